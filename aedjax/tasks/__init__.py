"""Tasks: what is to be learned, with training draws and a fixed test set.

To add a task, write a function from `TaskConfig` to `Task` in a file of its own, and add one line
to `TASKS`; the tests over the table then cover it.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

from aedjax.errors import unknown
from aedjax.fields import checked_value
from aedjax.tasks.base import Task, TaskConfig
from aedjax.tasks.escan import make_escan
from aedjax.tasks.generated import check_lengths
from aedjax.tasks.overlap import train_test_overlap
from aedjax.tasks.reorder import make_reorder
from aedjax.tasks.scan import check_scan, make_scan

__all__ = [
    "TASKS",
    "Task",
    "TaskConfig",
    "TaskEntry",
    "check_task",
    "make_task",
    "train_test_overlap",
]


class TaskEntry(NamedTuple):
    """A line of the table.

    `build` makes the task; `check` raises InputError where fields do not go together, and is
    cheap; `uses` names the fields of `TaskConfig` that the task depends on besides its name.
    """

    build: Callable[[TaskConfig], Task]
    check: Callable[[TaskConfig], None]
    uses: tuple[str, ...]
    summary: str


LENGTHS = ("min_length", "max_length")
WORDS = ("num_words", *LENGTHS)
FILES = ("split", "train_path", "test_path")
TASKS: dict[str, TaskEntry] = {
    "one_to_one": TaskEntry(make_reorder, check_lengths, WORDS, "word i becomes output word i"),
    "reverse": TaskEntry(make_reorder, check_lengths, WORDS, "one_to_one, the output reversed"),
    "sort": TaskEntry(make_reorder, check_lengths, WORDS, "the input sorted by word id"),
    "scan": TaskEntry(make_scan, check_scan, FILES, "SCAN commands to actions, or files like it"),
    "escan": TaskEntry(
        make_escan,
        check_lengths,
        (*LENGTHS, "max_phrase_actions"),
        "random SCAN phrases in a row, to their actions",
    ),
}


def check_task(config: TaskConfig) -> None:
    """Check every field and how they go together; nothing is generated.

    Raises:
        InputError: for a value out of bounds, an unknown task, lengths or paths that do not go
            together, or a file that cannot be read.
    """
    for field in dataclasses.fields(TaskConfig):
        checked_value("task", TaskConfig, field.name, getattr(config, field.name))
    if config.name not in TASKS:
        raise unknown("task.name", config.name, TASKS)
    TASKS[config.name].check(config)


def make_task(config: TaskConfig) -> Task:
    """The task of `config`.

    Raises:
        InputError: as `check_task`, and for a file that is not in its format.
    """
    check_task(config)
    return TASKS[config.name].build(config)
