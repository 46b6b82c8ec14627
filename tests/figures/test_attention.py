"""sample_attention: the sample's words on the axes, its attention and the mean in the panels."""

import numpy as np

from aedjax.figures import sample_attention
from aedjax.figures.attention import median_sample
from tests.figures.synthetic import example


def panels(figure):
    """Pairs of panels by row, and the colour bars left out."""
    axes = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    return list(zip(axes[::2], axes[1::2], strict=True))


def test_the_sample_is_the_first_of_median_length():
    one = example()
    text = [["a"] * length for length in (5, 3, 1, 3, 9)]
    assert median_sample(one._replace(encoder_words=text)) == 1
    assert median_sample(one._replace(encoder_words=text[:4])) == 1
    assert median_sample(one._replace(encoder_words=text[:1])) == 0


def test_words_on_both_axes_and_attention_in_both_panels():
    one = example()
    n = median_sample(one)
    words = one.encoder_words[n]
    targets = [word.upper() for word in words]
    texts = list(one.target_words)
    texts[n] = targets
    ((left, right),) = panels(sample_attention([one._replace(target_words=texts)]).figure)
    assert [label.get_text() for label in left.get_xticklabels()] == words
    assert [label.get_text() for label in left.get_yticklabels()] == targets
    length = len(words)
    np.testing.assert_array_equal(left.images[0].get_array(), one.attention[n, :length, :length])
    half = int((one.encoder_count >= len(one.encoder_words) / 2).sum())
    assert half < one.mean_attention.shape[0]
    np.testing.assert_array_equal(right.images[0].get_array(), one.mean_attention[:half, :half])
    assert left.images[0].get_clim() == right.images[0].get_clim()
    assert (right.get_xlabel(), right.get_ylabel()) == ("encoder position", "decoder position")


def test_one_row_an_example_and_a_reason_where_there_is_no_attention():
    figure, caption = sample_attention([example(architecture="ved"), example(samples=9)])
    (ved, _), (aed, _) = panels(figure)
    assert ved.texts[0].get_text() == "VED has no attention"
    assert not ved.images
    assert aed.images
    assert "9 or 16 test samples" in caption


def test_words_are_shown_as_they_are_and_cut_when_long():
    words = ("$\\frac$", "a\u0007b", "donaudampfschiff", "_{x}")
    one = example(words=words)
    ((left, _),) = panels(sample_attention([one]).figure)
    shown = {label.get_text() for label in left.get_xticklabels()}
    assert shown <= {"$\\frac$", "a?b", "donaudampfs…", "_{x}", "<eos>"}
    assert len(shown) > 2
    assert not any(label.get_parse_math() for label in left.get_xticklabels())
