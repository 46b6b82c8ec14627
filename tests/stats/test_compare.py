"""compare: what the table and the records say."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from aedjax.stats import compare, render_table, to_records
from tests.stats.synthetic import sweep, with_status


def printed(comparison, width=100) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(render_table(comparison))
    return console.file.getvalue()


def test_the_untrained_network_stands_beside_the_trained_one():
    found = compare(sweep(), "token_accuracy")
    np.testing.assert_allclose(found.cells["initial"], 0.2)
    assert found.unit == "seed"
    assert "initial" not in compare(sweep(), "token_accuracy_initial").cells


def test_the_table_prints_n_its_unit_and_what_was_lost():
    text = printed(compare(with_status(sweep(), diverged=[5]), "token_accuracy"))
    for fragment in ("one_to_one · aed", "IQM", "initial", "0.915", "0.902, 0.925", "0.200"):
        assert fragment in text
    assert "n: seeds (the unit of replication)" in text
    assert "intervals: 95% BCa" in text
    assert "1 diverged, 0 failed, 0 pending" in text
    assert "3 of 4" in text


@pytest.mark.parametrize("width", [80, 120])
def test_no_number_is_cut_on_a_narrow_terminal(width):
    data = sweep(learning_rate=[0.001, 0.003], embedding_scale=[0.1, 0.01])
    text = printed(compare(data, "token_accuracy"), width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert text.count("learning_rate=0.003") == 12
    assert text.count("0.902, 0.925") == 24


def test_a_comparison_without_intervals_says_so():
    text = printed(compare(sweep(seeds=1), "token_accuracy"))
    assert "intervals: none for one seed" in text
    assert "nan" not in text


def test_settings_from_a_corpus_are_shown_as_they_are():
    data = sweep(tasks=("translation",), architectures=("aed",), path=["[red]a[/red]", "b"])
    assert "path=[red]a[/red]" in printed(compare(data, "token_accuracy"))


def test_a_cell_may_be_the_whole_sweep():
    data = sweep(tasks=("escan",), architectures=("aed",))
    assert "all runs" in printed(compare(data, "token_accuracy", by=[]))


def test_records_are_json_without_nan():
    records = to_records(compare(sweep(seeds=1), "mean_attention_kl"))
    again = json.loads(json.dumps(records, allow_nan=False))
    assert again == records
    ved, aed = records[0], records[1]
    assert (ved["n"], ved["mean"], ved["iqm_low"]) == (0, None, None)
    assert (aed["n"], aed["mean"], aed["unit"]) == (1, 0.5, "seed")
    assert aed["initial"] == pytest.approx(0.05)
    assert aed["interval_method"] == "none"
