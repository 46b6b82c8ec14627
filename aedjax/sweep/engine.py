"""The hot path: train and measure the members of a unit, in stretches between which it can stop.

Where several processes run one program (`jax.distributed`), each calls these functions alike.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from aedjax.sweep.hosts import agreed, fetch, spread, together
from aedjax.sweep.programs import Programs, unit_inputs
from aedjax.sweep.reporter import Reporter
from aedjax.sweep.spec import Member
from aedjax.training import TrainState

SHORT_SECONDS, LONG_SECONDS = 0.5, 2.0
"""How long a stretch of training should take between two signs of life. One that is shorter is
followed by one of twice as many steps, one that is longer by one of half as many."""
FIRST_STRETCH = 2
"""Steps of the first stretch."""


class Progress(NamedTuple):
    """A unit in training, after `step` steps: everything that it takes to go on, bit for bit.

    Leaves of `state` are [width, ...], metrics[name] is [width, analyses so far, ...]; what they
    hold beyond the unit's own members means nothing.
    """

    step: int
    state: TrainState
    metrics: dict[str, np.ndarray]


class UnitResult(NamedTuple):
    """What a unit leaves behind, members in order.

    metrics[name] is [members, analyses, ...], params a tree of [members, ...], `steps` the
    training step of every analysis, `diverged_at` the step of `TrainState` or −1. `provenance`
    says with what it was made.
    """

    steps: np.ndarray
    metrics: dict[str, np.ndarray]
    params: Any
    diverged_at: np.ndarray
    provenance: dict[str, Any]


def analysis_steps(member: Member) -> list[int]:
    """The training steps at which a member is analysed: 0, every k, and the last."""
    every, last = member.analysis.every, member.train.steps
    between = range(0, last, every) if every else ()
    return sorted({0, *between, last})


def train_unit(
    programs: Programs,
    members: Sequence[Member],
    root_seed: int,
    report: Reporter,
    progress: Progress | None = None,
    longest: int | None = None,
) -> Iterator[Progress]:
    """Train and analyse at most `programs.width` members of the programs' group.

    A stretch takes about a second, and has at most `longest` steps.

    Yields:
        the unit as it stands after every stretch, the analyses that are due done; the last one
        has all of its steps. Given one of them as `progress`, it goes on from there.
    """
    inputs, active = unit_inputs(programs, members, root_seed)
    batch = programs.task.test(members[0].analysis.samples)

    def analysed(step: int, state: TrainState, metrics: dict[str, np.ndarray]) -> Progress:
        report.analysing(step)
        found = fetch(_computed(programs.measure, state.params, active, batch))
        return Progress(
            step,
            state,
            {
                name: np.concatenate([*([metrics[name]] if metrics else []), values[:, None]], 1)
                for name, values in found.items()
            },
        )

    if progress is None:
        progress = analysed(0, _computed(programs.start, inputs, active, ()), {})
    else:
        progress = progress._replace(state=spread(progress.state, programs.mesh))
    yield progress
    stretch = min(FIRST_STRETCH, longest or FIRST_STRETCH)
    for target in analysis_steps(members[0]):
        while progress.step < target:
            began, until = time.monotonic(), min(target, progress.step + stretch)
            shared = (programs.task.data, np.int32(until))
            state = _computed(programs.advance, (progress.state, *inputs), active, shared)
            diverged = int((fetch(state.diverged_at)[: len(members)] >= 0).sum())
            seconds = time.monotonic() - began
            report.advanced((until - progress.step) * len(members), diverged)
            if seconds < SHORT_SECONDS:
                stretch = min(2 * stretch, longest or 2 * stretch)
            elif seconds > LONG_SECONDS:
                stretch = max(1, stretch // 2)
            stretch = agreed(stretch)
            if until == target:
                progress = analysed(until, state, progress.metrics)
            else:
                progress = Progress(until, state, progress.metrics)
            yield progress


def _computed(program: Callable[[Any, Any, Any], Any], *arguments: Any) -> Any:
    """What a program returns, once it is there: an error shows here, in every process."""
    return together(lambda: jax.block_until_ready(program(*arguments)))


def result_of(
    progress: Progress, members: Sequence[Member], provenance: dict[str, Any]
) -> UnitResult:
    """What is kept of a unit that has all of its steps."""
    params, diverged_at = fetch((progress.state.params, progress.state.diverged_at))
    kept = slice(len(members))
    return UnitResult(
        np.array(analysis_steps(members[0])),
        {name: values[kept] for name, values in progress.metrics.items()},
        jax.tree.map(lambda leaf: leaf[kept], params),
        diverged_at[kept],
        provenance,
    )
