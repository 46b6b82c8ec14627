"""What holds of every figure in the table, and of the files."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from aedjax.figures import FIGURES, draw_all
from tests.figures.synthetic import example
from tests.stats.synthetic import sweep, with_status

LONG = ("look", "turn", "internationalisation", "$x_i^$", "anticonstitutionnellement")


def nothing_finite():
    data = sweep().map(lambda variable: variable * np.nan)
    one = example()
    attention = {name: getattr(one, name) * np.nan for name in ("attention", "mean_attention")}
    temporal = {
        f"{side}_temporal": one.encoder_temporal * np.nan for side in ("encoder", "decoder")
    }
    return data, [one._replace(**attention, **temporal)]


def unfinished():
    data = sweep(tasks=("escan",))
    data = with_status(data, pending=list(range(data.sizes["run"])))
    return data.drop_vars(list(data.data_vars)), []


CASES = {
    "ordinary": lambda: (
        sweep(),
        [
            example(architecture="ved", label="ved, seed 0"),
            example(),
            example(architecture="ao", label="ao, seed 0", longest=5),
        ],
    ),
    "one of everything": lambda: (
        sweep(tasks=("escan",), architectures=("aed",), seeds=1, steps=[0]),
        [example(longest=1)],
    ),
    "no attention": lambda: (
        sweep(tasks=("one_to_one",), architectures=("ved",)),
        [example(architecture="ved", label="ved, seed 0")],
    ),
    "50 positions, long words": lambda: (
        sweep(tasks=("translation",), steps=range(0, 100001, 5000)),
        [example("translation", label="aed, seed 3", longest=50, words=LONG), example()],
    ),
    "many architectures and tasks": lambda: (
        sweep(
            tasks=("one_to_one", "reverse", "sort", "scan", "escan"),
            architectures=("ved", "aed", "ao", "a_transformer", "another"),
            seeds=2,
        ),
        [example(architecture=name, label=name) for name in "abcdefg"],
    ),
    "a few settings": lambda: (
        sweep(architectures=("aed",), seeds=2, learning_rate=[0.001, 3e-3], clip_norm=[1.0, 9.0]),
        [example(label="aed, learning_rate=0.001, embedding_scale=0.01, clip_norm=1, seed 3")],
    ),
    "many settings": lambda: (
        sweep(tasks=("escan",), seeds=2, learning_rate=list(np.geomspace(1e-4, 1e-2, 7))),
        [example(longest=20)],
    ),
    "nothing finite": nothing_finite,
    "no run has finished": unfinished,
}


@pytest.fixture(scope="module")
def sources():
    return {case: make() for case, make in CASES.items()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", FIGURES)
def test_text_is_legible_and_captioned(sources, check_text, name, case):
    entry = FIGURES[name]
    figure, caption = entry.function(sources[case][entry.needs == "examples"])
    assert check_text(figure)
    assert caption.endswith(".")
    assert "\n" not in caption
    if not caption.startswith("Empty"):
        assert "seed" in caption
        assert "interval" in caption


@pytest.mark.parametrize("name", [name for name in FIGURES if FIGURES[name].needs == "runs"])
def test_every_axes_holds_data_or_says_why_not(sources, name):
    for case in ("ordinary", "nothing finite"):
        figure, _ = FIGURES[name].function(sources[case][0])
        for axes in figure.axes:
            assert axes.has_data() or axes.texts or axes.get_label() == "<colorbar>"


def test_files_and_captions(sources, tmp_path):
    paths = draw_all(*sources["ordinary"], tmp_path / "new" / "figures")
    names = [path.name for path in paths]
    assert names == [f"{n}.{kind}" for n in FIGURES for kind in ("png", "svg")] + ["captions.json"]
    assert all(path.stat().st_size > 500 for path in paths)
    captions = json.loads(paths[-1].read_text("utf-8"))
    assert list(captions) == list(FIGURES)
    assert "n = 4 seeds" in captions["learning_curves"]
    with Image.open(paths[0]) as image:
        assert min(image.info["dpi"]) >= 159.9

    again = draw_all(*sources["ordinary"], tmp_path / "again")
    for first, second in zip(paths, again, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name


def test_a_folder_that_cannot_be_written_is_an_os_error(sources, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        draw_all(*sources["no run has finished"], tmp_path / "file")


def test_the_check_sees_what_is_wrong(check_text):
    figure = Figure(figsize=(2, 2))
    figure.text(0.5, 0.5, "one")
    assert check_text(figure) == ["one"]
    figure.text(0.52, 0.5, "two")
    with pytest.raises(AssertionError, match="'one' and 'two' overlap"):
        check_text(figure)
    figure = Figure(figsize=(2, 2))
    figure.text(0.95, 0.5, "outside")
    with pytest.raises(AssertionError, match="'outside' leaves the canvas"):
        check_text(figure)
