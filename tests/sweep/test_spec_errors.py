"""Every way in which a spec can be wrong, and the one line that says so."""

import pytest

from aedjax.errors import InputError
from aedjax.sweep.spec import load_spec, spec_of_one


@pytest.fixture
def load(tmp_path):
    """The sweep of a file with this text, with overrides."""

    def load(text: str | bytes, *overrides: str):
        path = tmp_path / "some-sweep.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_spec(path, overrides)

    return load


BAD = {
    "section": ("[modle]\ncell = 'gru'", ["'modle'", "did you mean 'model'"]),
    "key outside its section": ("steps = 5", ["'steps'", "key of [train]"]),
    "key": ("[model]\nhiden_size = 5", ["model key", "'hiden_size'", "'hidden_size'"]),
    "key of another section": ("[model]\nsteps = 5", ["'steps'", "belongs in [train]"]),
    "section that is a value": ("model = 5", ["model = 5", "write [model]"]),
    "case as a table": ("[case]\n[case.model]\ncell = 'gru'", ["case", "[[case]]"]),
    "task": ("[task]\nname = 'escna'", ["task.name", "'escna'", "'escan'"]),
    "architecture": (
        "[model]\narchitecture = 'adv'",
        ["model.architecture", "'adv'", "ao, ved"],
    ),
    "cell": ("[model]\ncell = 'gur'", ["model.cell", "'gur'", "did you mean 'gru'"]),
    "method": ("[analysis]\nmethods = ['jont']", ["analysis.methods", "'jont'", "'joint'"]),
    "method's type": ("[analysis]\nmethods = 3", ["analysis.methods = 3", "both"]),
    "no method": ("[analysis]\nmethods = []", ["analysis.methods", "empty", "joint"]),
    "fit": ("[analysis]\nfit = 'corss'", ["analysis.fit", "'corss'", "'cross'"]),
    "samples as a list": ("[analysis]\nsamples = [1, 2]", ["analysis.samples", "a list"]),
    "string for a number": (
        "[train]\nlearning_rate = 'fast'",
        ["train.learning_rate = 'fast'", "a string", "use a number"],
    ),
    "bool for a number": ("[train]\nsteps = true", ["train.steps = True", "whole number"]),
    "date for a number": ("[train]\nsteps = 2020-01-01", ["train.steps", "whole number"]),
    "negative": ("[train]\nlearning_rate = -0.1", ["train.learning_rate = -0.1", "too small"]),
    "nan": ("[train]\nlearning_rate = nan", ["train.learning_rate = nan", "not finite"]),
    "infinity": ("[train]\nclip_norm = inf", ["train.clip_norm = inf", "not finite"]),
    "lengths": (
        "[task]\nmin_length = 9\nmax_length = 5",
        ["task.min_length", "9", "5"],
    ),
    "empty axis": ("[train]\nsteps = []", ["train.steps = []", "empty axis"]),
    "unequal axes of a zip": (
        "[model]\nhidden_size = [8, 9]\n[train]\nsteps = [1, 2, 3]\n[sweep]\ncombine = 'zip'",
        ["model.hidden_size has 2", "train.steps has 3", "one length"],
    ),
    "combine": ("[sweep]\ncombine = 'product'", ["sweep.combine", "'product'", "grid"]),
    "samples without random": ("[sweep]\nsamples = 5", ["sweep.samples = 5", "'random'"]),
    "random without samples": (
        "[train]\nclip_norm = {uniform = [1, 2]}\n[sweep]\ncombine = 'random'",
        ["sweep.samples is not set"],
    ),
    "random without distribution": (
        "[sweep]\ncombine = 'random'\nsamples = 3",
        ["sweep.combine = 'random'", "nothing to draw"],
    ),
    "distribution without random": (
        "[train]\nclip_norm = {uniform = [1, 2]}",
        ["train.clip_norm", "is a distribution", "'random'"],
    ),
    "draws out of bounds": (
        "[train]\nlearning_rate_decay = {uniform = [0.9, 1.1]}\n"
        "[sweep]\ncombine = 'random'\nsamples = 2",
        ["train.learning_rate_decay = 1.1", "at most 1"],
    ),
    "distribution of an analysis": ("[analysis]\nevery = {choice = [1]}", ["analysis.every"]),
    "no seeds": ("[sweep]\nseeds = 0", ["sweep.seeds = 0", "at least 1"]),
    "negative count of seeds": ("[sweep]\nseeds = -3", ["sweep.seeds = -3", "at least 1"]),
    "empty seeds": ("[sweep]\nseeds = []", ["sweep.seeds = []", "at least one"]),
    "too many seeds": ("[sweep]\nseeds = 1000000000000", ["sweep.seeds", "at most 1000000"]),
    "equal seeds": ("[sweep]\nseeds = [1, 2, 1]", ["sweep.seeds", "seed 1 twice"]),
    "negative seed": ("[sweep]\nseeds = [1, -2]", ["sweep.seeds", "-2", "use 0 to"]),
    "seeds' type": ("[sweep]\nseeds = [1.5]", ["sweep.seeds = [1.5]", "a count"]),
    "root seed": ("[sweep]\nroot_seed = 4294967296", ["sweep.root_seed", "at most 4294967295"]),
    "value in a case": (
        "[[case]]\n[[case]]\ntrain.steps = -1",
        ["case 2: train.steps = -1", "at least 0"],
    ),
    "key in a case": ("[[case]]\nmodel.cel = 'gru'", ["case 1: model key", "'cel'", "'cell'"]),
    "section in a case": ("[[case]]\nmodl.cell = 'gru'", ["case 1: section", "'modl'", "'model'"]),
    "name in a case": ("[[case]]\nname = 'x'", ["case 1: name", "to the top"]),
    "root seed in a case": ("[[case]]\nsweep.root_seed = 1", ["case 1: sweep.root_seed"]),
    "equal values": ("[train]\nsteps = [5, 5]", ["train.steps = [5, 5]", "repeats 5"]),
    "equal cases": (
        "sweep.seeds = 2\n[[case]]\n[[case]]\ntrain.steps = 1500",
        ["runs 0 and 2", "every setting (one_to_one, aed, seed 0)", "remove"],
    ),
    "members equal but for an unused field": (
        "sweep.seeds = 2\n[model]\narchitecture = ['aed', 'ao']\ncell = ['gru', 'lstm']",
        [
            "runs 4 and 6",
            "model.cell ('gru', 'lstm')",
            "model.architecture = 'ao' does not use",
            "[[case]]",
        ],
    ),
    "members equal but for a task's unused field": (
        "[task]\nname = 'scan'\nnum_words = [3, 4]",
        ["runs 0 and 4", "task.num_words (3, 4)", "task.name = 'scan' does not use"],
    ),
    "members equal but for the analysis": (
        "[[case]]\n[[case]]\nanalysis.every = 5",
        ["runs 0 and 4", "[analysis] alone"],
    ),
    "empty name": ("name = ''", ["name = ''", "short one"]),
    "name's type": ("name = 3", ["name = 3"]),
    "name with a slash": ("name = 'a/b'", ["name = 'a/b'", "letters, digits"]),
    "hidden name": ("name = '.x'", ["name = '.x'", "folder"]),
    "name of dots": ("name = '..'", ["name = '..'", "folder"]),
    "name with an end of line": ('name = "a\\n"', ["name = 'a\\n'", "folder"]),
    "long name": (f"name = '{'é' * 101}'", ["name", "at most 200"]),
    "TOML": ("[train]\nsteps = = 5", ["some-sweep.toml", "not TOML", "line 2"]),
    "key twice": ("[train]\nsteps = 5\nsteps = 6\n", ["not TOML", "line 3"]),
    "enormous number": (f"[train]\nsteps = 1{'0' * 5000}", ["not TOML"]),
    "deep nesting": (f"x = {'[' * 20000}", ["not TOML"]),
    "UTF-8": (b"# caf\xe9\n", ["some-sweep.toml", "not UTF-8", "line 1", "byte 5"]),
}


def one_line(caught) -> str:
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("what", BAD)
def test_bad_spec_is_one_line_that_says_what_to_do(load, what):
    text, fragments = BAD[what]
    with pytest.raises(InputError) as caught:
        load(text)
    message = one_line(caught)
    for fragment in fragments:
        assert fragment in message


def test_missing_and_unreadable_files(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InputError) as caught:
            load_spec(path)
        assert str(path) in one_line(caught)
        assert "cannot be read" in one_line(caught)


BAD_OVERRIDES = {
    "hidden_size=8": ["'hidden_size=8'", "section.key=value"],
    "model.hidden_size": ["'model.hidden_size'", "section.key=value"],
    "model.hidden_size=": ["section.key=value"],
    "name.x=3": ["section.key=value"],
    "=3": ["section.key=value"],
    "modle.cell=gru": ["'modle'", "'model'"],
    "case.cell=gru": ["section = 'case' is unknown"],
    "model.hiden_size=8": ["'hiden_size'", "'hidden_size'"],
    "model.hidden_size=many": ["model.hidden_size = 'many'", "a whole number"],
    "model.cell=[gru, lstm]": ["model.cell=[gru, lstm]", "quoted"],
    "model.hidden_size=8\nx=3": ["one section.key=value"],
    "train.steps=-1": ["train.steps = -1", "at least 0"],
    "sweep.seeds=0": ["sweep.seeds = 0"],
    "name=a/b": ["name = 'a/b'"],
}


@pytest.mark.parametrize("override", BAD_OVERRIDES)
def test_bad_override_is_one_line_that_says_what_to_do(load, override):
    with pytest.raises(InputError) as caught:
        load("", override)
    message = one_line(caught)
    for fragment in BAD_OVERRIDES[override]:
        assert fragment in message


def test_spec_of_one_names_the_bad_field_before_the_name():
    with pytest.raises(InputError, match=r"task.name = 'so/rt' is unknown; did you mean 'sort'"):
        spec_of_one("so/rt", "ao", 0, None)
    with pytest.raises(InputError, match=r"seed -1 is out of range"):
        spec_of_one("sort", "ao", -1, None)
