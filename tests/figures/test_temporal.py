"""temporal_components: principal components of the temporal parts, told by known geometry."""

import numpy as np
import pytest

from aedjax.figures import temporal_components
from aedjax.figures.temporal import principal_plane
from tests.figures.synthetic import example


def test_the_plane_of_points_that_lie_in_one():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(20, 2)) * np.array([5.0, 1.0])[None, :]
    axes, _ = np.linalg.qr(rng.normal(size=(6, 2)))
    points = flat @ axes.T + rng.normal(size=6)[None, :]
    plane = principal_plane(points)
    assert plane.explained.sum() == pytest.approx(1)
    # Distances survive: the plane is an isometric view of the points.
    found, known = (np.linalg.norm(p[:, None] - p[None], axis=-1) for p in (plane.points, flat))
    np.testing.assert_allclose(found, known, atol=1e-12)
    variance = np.linalg.eigvalsh(np.cov(points.T))[::-1]
    np.testing.assert_allclose(plane.explained, (variance / variance.sum())[:2], atol=1e-12)


def test_the_sign_is_fixed():
    points = np.array([[0.0, 1.0], [3.0, 1.0], [5.0, 1.0]])
    plane = principal_plane(points)
    np.testing.assert_allclose(plane.points[:, 0], points[:, 0] - 8 / 3, atol=1e-12)
    np.testing.assert_allclose(plane.points[:, 1], 0, atol=1e-12)


def test_few_points_few_dimensions_and_none():
    assert principal_plane(np.ones((4, 3))) is None
    assert principal_plane(np.ones((1, 3))) is None
    assert principal_plane(np.array([[0.0, np.nan], [1.0, 2.0]])) is None
    line = principal_plane(np.array([[0.0], [2.0]]))
    np.testing.assert_allclose(line.points, [[-1, 0], [1, 0]])
    np.testing.assert_allclose(line.explained, [1, 0])


def test_one_space_for_both_sides_coloured_by_position():
    one = example()
    axes = temporal_components([one]).figure.axes[0]
    half = int((one.encoder_count >= len(one.encoder_words) / 2).sum())
    assert half < len(one.encoder_temporal)
    encoder, decoder = (np.asarray(dots.get_offsets()) for dots in axes.collections)
    both = np.concatenate([one.encoder_temporal[:half], one.decoder_temporal[:half]])
    plane = principal_plane(both)
    np.testing.assert_allclose(np.concatenate([encoder, decoder]), plane.points)
    first, second = (dots.get_facecolors() for dots in axes.collections)
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first, axis=0)) == half
    assert axes.get_xlabel() == f"PC 1 ({plane.explained[0]:.0%})"
    assert axes.get_ylabel() == f"PC 2 ({plane.explained[1]:.0%})"


def test_why_a_panel_is_empty():
    one = example()
    still = np.ones_like(one.encoder_temporal)
    lost = still * np.nan
    examples = [one._replace(encoder_temporal=x, decoder_temporal=x) for x in (still, lost)]
    first, second = temporal_components(examples).figure.axes[:2]
    assert first.texts[0].get_text().split() == ["temporal", "parts", "do", "not", "vary"]
    assert "finite" in second.texts[0].get_text()
