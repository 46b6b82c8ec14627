"""What a sweep tells whoever wants to know how far it is."""

from aedjax.sweep.plan import Unit


class Reporter:
    """Says nothing; whoever wants to know overrides what it wants to know, as
    `aedjax.progress.ProgressReporter` does for people."""

    def planned(self, runs: int, groups: int, units: int, finished: int, model_steps: int) -> None:
        """The whole sweep, how many of its units are finished, and the steps that are left,
        summed over members."""

    def compiling(self, what: str) -> None:
        """A program is about to be compiled."""

    def analysing(self, step: int) -> None:
        """The networks are about to be analysed, trained for so many steps."""

    def advanced(self, model_steps: int, diverged: int) -> None:
        """So many steps more, summed over members; so many members of the unit have diverged."""

    def resumed_at(self, model_steps: int) -> None:
        """A unit goes on from a checkpoint: so many steps need not be trained again."""

    def finished(self, unit: Unit) -> None:
        """A unit has its result."""

    def note(self, text: str) -> None:
        """Something that is worth a line: a unit resumed, taken over, narrowed, waited for."""

    def failed(self, unit: Unit, error: Exception) -> None:
        """A unit ended in an error; the sweep goes on."""


class Silent(Reporter):
    """A reporter that says nothing, and raises what went wrong."""

    def failed(self, unit: Unit, error: Exception) -> None:
        """Raise what went wrong: there is nothing else to go on with."""
        raise error
