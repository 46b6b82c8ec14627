"""Point estimates over seeds, each with a bootstrap interval."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

CONFIDENCE = 0.95
RESAMPLES = 9999
BATCH = 1000
"""Resamples held at a time, which bounds the memory that thousands of seeds take."""


class Estimate(NamedTuple):
    """A statistic of the seeds and the ends of its 95% interval (NaN where there is none)."""

    value: float
    low: float
    high: float


def iqm(values: Float[np.ndarray, "*batch n"], axis: int = -1) -> np.ndarray | np.floating:
    """Interquartile mean: the mean of what is left when the lowest and the highest
    floor(n / 4) values are cut (the 25% trimmed mean; Agarwal et al. 2021, as in rliable)."""
    return stats.trim_mean(values, 0.25, axis=axis)


STATISTICS: dict[str, Callable[..., np.ndarray | np.floating]] = {
    "mean": np.mean,
    "median": np.median,
    "iqm": iqm,
}


def estimates(values: Float[np.ndarray, " n"]) -> tuple[dict[str, Estimate], str]:
    """Mean, median and IQM of one value a seed, with 95% bootstrap intervals over seeds.

    Intervals are BCa (Efron 1987) where that is defined for all three, else percentile for all
    three: BCa is not where leaving out any one seed gives the same estimate, as when all seeds
    score 1.0. The resamples are the same at every call, so the output is too.

    Args:
        values: finite, one a seed, in the metric's unit.

    Returns:
        the estimates by name, and how the intervals were made: "BCa", "percentile", or "none"
        for fewer than two seeds.
    """
    values = np.asarray(values, float)
    if len(values) < 2:
        value = float(values[0]) if len(values) else np.nan
        return dict.fromkeys(STATISTICS, Estimate(value, np.nan, np.nan)), "none"
    for method in ("BCa", "percentile"):
        found = {name: _interval(values, name, method) for name in STATISTICS}
        if all(np.isfinite(estimate).all() for estimate in found.values()):
            break
    return found, method


def mean_band(values: Float[np.ndarray, "n M"]) -> Float[np.ndarray, "2 M"]:
    """Low and high ends of the 95% percentile bootstrap interval of the mean over n >= 2 seeds,
    for each of M steps; every step resamples the same seeds."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (np.asarray(values, float),),
            np.mean,
            axis=0,
            n_resamples=RESAMPLES,
            batch=BATCH,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=rng,
        )
    return np.stack([found.confidence_interval.low, found.confidence_interval.high])


def _interval(values: Float[np.ndarray, " n"], name: str, method: str) -> Estimate:
    statistic = STATISTICS[name]
    value = float(statistic(values))
    if method == "BCa" and not _left_out_differ(values, statistic):
        return Estimate(value, np.nan, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (values,),
            statistic,
            n_resamples=RESAMPLES,
            batch=BATCH,
            confidence_level=CONFIDENCE,
            method=method,
            rng=np.random.default_rng(0),
        )
    low, high = found.confidence_interval
    return Estimate(value, float(low), float(high))


def _left_out_differ(
    values: np.ndarray, statistic: Callable[..., np.ndarray | np.floating]
) -> bool:
    """Whether BCa's acceleration is 0/0; scipy sees that only where nothing is rounded."""
    left_out = np.array([statistic(np.delete(values, n)) for n in range(len(values))])
    return bool(np.ptp(left_out) > 1e-12 * np.abs(left_out).max())
