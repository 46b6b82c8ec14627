"""The spec of a sweep: from a TOML file to its members, each fully resolved.

The order of the members is the spec's: cases in order, then points in order (`sweep.axes`), seeds
fastest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from aedjax.errors import InputError
from aedjax.fields import traced_fields
from aedjax.models import check_model
from aedjax.models.config import ModelConfig, resolved
from aedjax.sweep.axes import expand
from aedjax.sweep.document import (
    Document,
    check_name,
    layers,
    normalised,
    overridden,
    read_toml,
)
from aedjax.sweep.identity import USES, canonical_json, used_settings
from aedjax.sweep.sections import AXIS_SECTIONS, SECTIONS, AnalysisConfig, SweepConfig
from aedjax.tasks import check_task
from aedjax.tasks.base import TaskConfig
from aedjax.training import TrainConfig


@dataclass(frozen=True)
class Member:
    """One run of a sweep: every field has one value, and none depends on another any more."""

    task: TaskConfig
    model: ModelConfig
    train: TrainConfig
    analysis: AnalysisConfig
    seed: int


@dataclass(frozen=True)
class Spec:
    """A sweep. `document` is all of it as JSON-able data: spec_from_document(document) is it."""

    name: str
    members: tuple[Member, ...]
    root_seed: int
    document: Document


def hyperparameters(member: Member) -> dict[str, float]:
    """The traced fields of a member by name: what flows through its group's one program."""
    return {
        name: getattr(config, name)
        for config in (member.model, member.train)
        for name in traced_fields(type(config))
    }


def member_identity(member: Member) -> dict[str, Any]:
    """What makes a member's training what it is: its used fields and its seed, not its analysis."""
    sections = {section: used_settings(getattr(member, section)) for section in AXIS_SECTIONS}
    return {**sections, "seed": member.seed}


def load_spec(path: str | Path, overrides: Sequence[str] = ()) -> Spec:
    """The sweep of a TOML file.

    Args:
        path: the file.
        overrides: settings that replace the file's, in every case, as "section.key=value"; the
            value is TOML or a bare word: "train.learning_rate=[0.001, 0.003]", "task.name=escan".

    Raises:
        InputError: on anything wrong with the file, its keys, values or combinations.
    """
    return spec_from_document(overridden(normalised(read_toml(path)), overrides))


def spec_of_one(
    task: str, architecture: str, seed: int, steps: int | None, overrides: Sequence[str] = ()
) -> Spec:
    """The sweep of one run, everything else at its default unless overridden.

    Raises:
        InputError: on an unknown name or a bad value.
    """
    document = {
        "name": f"{task}-{architecture}-{seed}",
        "task": {"name": task},
        "model": {"architecture": architecture},
        "train": {} if steps is None else {"steps": steps},
        "sweep": {"seeds": [seed]},
    }
    return spec_from_document(overridden(normalised(document), overrides))


def spec_from_document(document: Mapping[str, Any]) -> Spec:
    """The sweep that a document describes, in part or in full; everything is checked.

    Raises:
        InputError: on an unknown key, a bad value, axes that do not combine, two equal members.
    """
    document = normalised(document)
    found = layers(document)
    members = tuple(member for layer in found for member in _members(layer))
    _check_samples(found)
    _check_duplicates(members)
    check_name(document["name"])
    return Spec(document["name"], members, document["sweep"]["root_seed"], document)


def _members(layer: Document) -> Iterator[Member]:
    analysis = AnalysisConfig(**_frozen(layer["analysis"]))
    sweep = SweepConfig(**_frozen(layer["sweep"]))
    settings = {
        f"{section}.{key}": value
        for section in AXIS_SECTIONS
        for key, value in layer[section].items()
    }
    checked: set[Any] = set()
    for point in expand(settings, sweep):
        task, model, train = (_config(section, point) for section in AXIS_SECTIONS)
        for check, config in ((check_task, task), (check_model, model)):
            if config not in checked:
                check(config)
                checked.add(config)
        for seed in sweep.seeds:
            yield Member(task, resolved(model), train, analysis, seed)


def _frozen(section: Document) -> Document:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in section.items()}


def _config(section: str, point: Mapping[str, Any]) -> Any:
    config = SECTIONS[section]
    return config(**{field.name: point[f"{section}.{field.name}"] for field in fields(config)})


def _check_samples(found: Sequence[Document]) -> None:
    sweeps = [layer["sweep"] for layer in found]
    samples = next((sweep["samples"] for sweep in sweeps if sweep["samples"] is not None), None)
    if samples is not None and all(sweep["combine"] != "random" for sweep in sweeps):
        raise InputError(
            f"sweep.samples = {samples} is for sweep.combine = 'random'; remove it, or set that"
        )


def _check_duplicates(members: Sequence[Member]) -> None:
    runs: dict[str, int] = {}
    for run, member in enumerate(members):
        first = runs.setdefault(canonical_json(member_identity(member)), run)
        if first != run:
            reason = _why_equal(members[first], member)
            raise InputError(f"runs {first} and {run} are one run twice; {reason}")


def _why_equal(one: Member, other: Member) -> str:
    """Why two members have one identity, and the remedy."""
    for section in AXIS_SECTIONS:
        config = getattr(one, section)
        for field in fields(config):
            values = getattr(config, field.name), getattr(getattr(other, section), field.name)
            if values[0] != values[1]:
                kind = USES[type(config)](config)[0]
                return (
                    f"they differ in {section}.{field.name} ({values[0]!r}, {values[1]!r}) alone, "
                    f"which {section}.{kind} = {getattr(config, kind)!r} does not use; "
                    f"set {section}.{field.name} in a [[case]] of those that do"
                )
    if one.analysis != other.analysis:
        return "they differ in [analysis] alone; analyse each run in one way"
    settings = f"{one.task.name}, {one.model.architecture}, seed {one.seed}"
    return f"they agree in every setting ({settings}); remove the repeated value or [[case]]"
