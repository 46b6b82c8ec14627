"""The analysis once more, in plain float64 NumPy with loops, as an independent reference.

Written from the equations of the specification, not from the code under test.
"""

import numpy as np

PARTS = 3
PAD = 0


def sequential(states, words, mask, vocabulary):
    """μ_t: means over samples; χ_x: means of h − μ over the occurrences of x."""
    samples, positions, units = states.shape
    temporal, inputs = np.zeros((positions, units)), np.zeros((vocabulary, units))
    for t in range(positions):
        of_position = [states[n, t] for n in range(samples) if mask[n, t]]
        if of_position:
            temporal[t] = np.mean(of_position, axis=0)
    for x in range(vocabulary):
        of_word = [
            states[n, t] - temporal[t]
            for n in range(samples)
            for t in range(positions)
            if mask[n, t] and words[n, t] == x
        ]
        if of_word:
            inputs[x] = np.mean(of_word, axis=0)
    return temporal, inputs


def joint(states, words, mask, vocabulary):
    """Least squares on the dummy design, then Σ n_x χ_x = 0 in each component."""
    samples, positions, units = states.shape
    places = [(n, t) for n in range(samples) for t in range(positions) if mask[n, t]]
    design = np.zeros((len(places), positions + vocabulary))
    for row, (n, t) in enumerate(places):
        design[row, t] = design[row, positions + words[n, t]] = 1
    values = np.array([states[n, t] for n, t in places]).reshape(len(places), units)
    solution = np.linalg.lstsq(design, values, rcond=None)[0]
    temporal, inputs = solution[:positions], solution[positions:]
    count = design.sum(0)
    for component in components(words, mask, vocabulary):
        its_words = [node - positions for node in component if node >= positions]
        its_positions = [node for node in component if node < positions]
        weights = np.array([count[positions + x] for x in its_words])
        shift = (weights[:, None] * inputs[its_words]).sum(0) / weights.sum()
        inputs[its_words] -= shift
        temporal[its_positions] += shift
    temporal[count[:positions] == 0] = 0
    inputs[count[positions:] == 0] = 0
    return temporal, inputs


def components(words, mask, vocabulary):
    """Connected sets of positions (numbered t) and words (numbered positions + x) that occur."""
    samples, positions = mask.shape
    sets = []
    for n in range(samples):
        for t in range(positions):
            if mask[n, t]:
                touching = [c for c in sets if t in c or positions + words[n, t] in c]
                merged = {t, positions + words[n, t]}.union(*touching)
                sets = [c for c in sets if c not in touching] + [merged]
    return [sorted(c) for c in sets]


FITS = {"sequential": sequential, "joint": joint}


def split(states, words, mask, tables):
    """Temporal, input and delta part, 0 where not valid."""
    parts = np.zeros((PARTS, *states.shape))
    for n, t in zip(*np.nonzero(mask), strict=True):
        parts[0, n, t] = tables[0][t]
        parts[1, n, t] = tables[1][words[n, t]]
        parts[2, n, t] = states[n, t] - parts[0, n, t] - parts[1, n, t]
    return parts


def nine_terms(query, key):
    """a^{IJ}_st by loops."""
    _, samples, steps, _ = query.shape
    terms = np.zeros((PARTS, PARTS, samples, steps, key.shape[2]))
    for place in np.ndindex(terms.shape):
        i, j, n, s, t = place
        terms[place] = query[i, n, s] @ key[j, n, t]
    return terms


def rows_of(decoder_mask, encoder_mask):
    """(n, s, valid t) of every row that has any."""
    for n, s in zip(*np.nonzero(decoder_mask), strict=True):
        if encoder_mask[n].any():
            yield n, s, np.flatnonzero(encoder_mask[n])


def shares(terms, decoder_mask, encoder_mask):
    """Raw, centred and variance shares."""
    raw, centred = [], []
    covariance, variance = np.zeros((PARTS, PARTS)), 0.0
    for n, s, valid in rows_of(decoder_mask, encoder_mask):
        if len(valid) == 1:
            continue
        row = terms[:, :, n, s, valid]
        middle = row - row.mean(-1, keepdims=True)
        for kept, values in ((raw, row), (centred, middle)):
            for place in np.moveaxis(np.abs(values), -1, 0):
                if place.sum() != 0:
                    kept.append(place / place.sum())
        score = row.sum((0, 1))
        for i, j in np.ndindex(PARTS, PARTS):
            covariance[i, j] += np.cov(row[i, j], score, ddof=0)[0, 1]
        variance += np.var(score)
    nothing = np.full((PARTS, PARTS), np.nan)
    return (
        np.mean(raw, axis=0) if raw else nothing,
        np.mean(centred, axis=0) if centred else nothing,
        covariance / variance if variance else nothing,
    )


def softmax(scores):
    """Of one row."""
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def kl(p, q):
    """Σ p log(p / q) over p > 0."""
    return sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def network_metrics(batch, outputs):
    """Metrics of the network and of its attention."""
    losses, right, whole = [], [], []
    for n in range(len(batch.targets)):
        of_sample = []
        for s in np.flatnonzero(batch.targets[n] != PAD):
            logits, target = outputs.logits[n, s], batch.targets[n, s]
            losses.append(-np.log(softmax(logits)[target]))
            of_sample.append(logits.argmax() == target)
        right += of_sample
        whole.append(all(of_sample))
    found = {
        "loss": np.mean(losses),
        "token_accuracy": np.mean(right),
        "sequence_accuracy": np.mean(whole),
    }
    if outputs.states.attention is not None:
        found |= attention_metrics(batch, outputs.states.attention)
    return found


def attention_metrics(batch, attention):
    """Metrics of attention before any split."""
    masks = batch.targets != PAD, batch.encoder_words != PAD
    mean = np.zeros(attention.shape[1:])
    for s, t in np.ndindex(mean.shape):
        both = masks[0][:, s] & masks[1][:, t]
        mean[s, t] = attention[both, s, t].mean() if both.any() else 0
    divergence, on, near, wrong = [], [], [], []
    for n, s, valid in rows_of(*masks):
        divergence.append(kl(attention[n, s, valid], mean[s, valid] / mean[s, valid].sum()))
        on.append(sum(attention[n, s, t] for t in valid if t == s))
        near.append(sum(attention[n, s, t] for t in valid if abs(t - s) <= 1))
        if batch.alignment is not None and batch.alignment[n, s, valid].any():
            best = valid[attention[n, s, valid].argmax()]
            wrong.append(not batch.alignment[n, s, best])
    found = {
        "mean_attention_kl": np.mean(divergence),
        "diagonal_mass": np.mean(on),
        "diagonal_mass_1": np.mean(near),
    }
    return found | ({} if batch.alignment is None else {"alignment_error_rate": np.mean(wrong)})


def split_metrics(batch, states, method, vocabulary, fitted, looked_at):
    """Metrics of a split fitted on the samples `fitted`, looked at on the samples `looked_at`."""
    sides = {
        "encoder": (states.encoder, batch.encoder_words, batch.encoder_words != PAD),
        "decoder": (states.decoder, batch.decoder_words, batch.targets != PAD),
    }
    if states.query is not None:
        sides["query"] = (states.query, *sides["decoder"][1:])
        sides["key"] = (states.key, *sides["encoder"][1:])
    tables, parts = {}, {}
    for name, (values, words, mask) in sides.items():
        tables[name] = FITS[method](values, words, mask & fitted[:, None], vocabulary)
        parts[name] = split(values, words, mask & looked_at[:, None], tables[name])
    masks = [sides[name][2] & looked_at[:, None] for name in ("decoder", "encoder")]
    found = {"word_variance": [], "word_occurrences": [], "reconstruction_error": []}
    for name in ("encoder", "decoder"):
        _, words, mask = sides[name]
        _, inputs, delta = parts[name]
        found["word_variance"].append(1 - (delta**2).sum() / ((inputs + delta) ** 2).sum())
        seen = np.unique(words[mask & fitted[:, None]], return_counts=True)[1]
        found["word_occurrences"].append(np.median(seen))
    if states.query is not None:
        found |= term_metrics(states, tables, nine_terms(parts["query"], parts["key"]), masks)
    return {name: np.asarray(value) for name, value in found.items()}


def term_metrics(states, tables, terms, masks):
    """Metrics of the nine terms."""
    kinds = shares(terms, *masks)
    order = np.argsort(-kinds[1].ravel(), kind="stable")
    subsets = [[0], list(range(1, 9)), *(order[:k] for k in range(1, 10))]
    flat = terms.reshape(9, *terms.shape[2:])
    divergences = [
        np.mean(
            [
                kl(states.attention[n, s, valid], softmax(flat[subset][:, n, s, valid].sum(0)))
                for n, s, valid in rows_of(*masks)
            ]
        )
        for subset in subsets
    ]
    samples = masks[1].any(1).sum()
    reached = [np.flatnonzero(mask.sum(0) >= samples / 2) for mask in masks]
    offsets = [
        reached[1][np.argmax([tables["query"][0][s] @ tables["key"][0][t] for t in reached[1]])] - s
        for s in reached[0]
    ]
    return {
        "share": np.stack(kinds, axis=-1),
        "term_order": order,
        "alignment_kl": divergences,
        "temporal_offset": np.mean(offsets),
    }
