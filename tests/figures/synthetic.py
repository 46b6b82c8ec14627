"""Made-up examples with plausible attention and temporal parts."""

import numpy as np

from aedjax.figures import Example


def example(
    task="one_to_one",
    architecture="aed",
    label="aed, seed 0",
    longest=12,
    samples=16,
    hidden=8,
    words=("red", "green", "blue"),
) -> Example:
    """Inputs of half the longest length to the longest; attention near the diagonal."""
    rng = np.random.default_rng(longest)
    lengths = rng.integers((longest + 1) // 2, longest + 1, samples)
    lengths[0] = longest
    text = [[*rng.choice(words, length - 1), "<eos>"] for length in lengths]
    text = [[str(word) for word in sample] for sample in text]
    place = np.arange(longest)
    valid = place[None, :] < lengths[:, None]
    both = valid[:, :, None] & valid[:, None, :]
    noise = rng.normal(0, 0.5, (samples, longest, longest))
    score = -2 * np.abs(place[:, None] - place[None, :])[None] + noise
    attention = np.where(both, np.exp(score), 0.0)
    attention /= np.maximum(attention.sum(-1, keepdims=True), 1e-9)
    count = both.sum(0)
    mean = np.where(count, attention.sum(0) / np.maximum(count, 1), np.nan)
    angle = place[:, None] * np.linspace(0.2, 0.5, hidden)[None, :] * 6 / longest
    reached = valid.sum(0)
    attends = architecture != "ved"
    return Example(
        task,
        architecture,
        label,
        text,
        text,
        attention if attends else None,
        mean if attends else None,
        np.cos(angle),
        np.sin(angle) + 0.2,
        reached,
        reached,
    )
