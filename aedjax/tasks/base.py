"""What a task is: its configuration, and the functions a network is trained and tested by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array, Key

from aedjax.fields import Static, setting
from aedjax.types import Batch


@dataclass(frozen=True)
class TaskConfig:
    """The `[task]` section of a spec. `TASKS[name].uses` names the fields that a task looks at."""

    name: Static[str] = setting("one_to_one", "name of the task (aedjax list tasks)")
    num_words: Static[int] = setting(
        3, "ordinary words of one_to_one, reverse, sort", at_least=1, at_most=100_000
    )
    min_length: Static[int] = setting(
        10, "fewest input words, EOS not counted", at_least=1, at_most=10_000
    )
    max_length: Static[int] = setting(
        15, "most input words, EOS not counted", at_least=1, at_most=10_000
    )
    split: Static[str] = setting("simple", "split of scan into training and test")
    train_path: Static[str] = setting("", "training file of scan, instead of a split")
    test_path: Static[str] = setting("", "test file of scan, instead of a split")
    max_phrase_actions: Static[int] = setting(
        4, "most actions of an escan phrase", at_least=1, at_most=10_000
    )


@dataclass(frozen=True, eq=False)
class Task:
    """A way to draw samples, and a fixed test set.

    `encoder_vocabulary` and `decoder_vocabulary` are indexed by word id and begin with
    `SPECIAL_WORDS`. `encoder_length` T and `decoder_length` S are the padded lengths, EOS counted:
    every batch has these shapes, and some possible sample reaches each of them.

    `draw(data, key, n)` gives a training batch and is jit-able with n static; `data` is an
    argument so that a compiled program never holds a copy of it. `test(n)` gives the first n
    samples of the test set, fewer where it is smaller; it depends on the task alone.
    """

    name: str
    encoder_vocabulary: tuple[str, ...]
    decoder_vocabulary: tuple[str, ...]
    encoder_length: int
    decoder_length: int
    has_alignment: bool
    data: Any
    draw: Callable[[Any, Key[Array, ""], int], Batch]
    test: Callable[[int], Batch]

    def sample(self, key: Key[Array, ""], n: int) -> Batch:
        """A training batch of n samples."""
        return self.draw(self.data, key, n)
