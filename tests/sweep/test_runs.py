"""The npz by which anybody can check us."""

import json

import numpy as np
import pytest

from aedjax.errors import InputError
from aedjax.sweep.runs import load_run, save_states

COMMON = {
    "encoder_states", "decoder_states", "encoder_words", "decoder_words", "targets",
    "encoder_mask", "decoder_mask", "logits", "readout_decoder", "readout_bias", "metrics_json",
    "encoder_temporal", "encoder_input", "encoder_delta",
    "decoder_temporal", "decoder_input", "decoder_delta",
}  # fmt: skip
ATTENTION = {"query", "key", "value", "scores", "attention", "context", "readout_context"}


@pytest.fixture(scope="session", params=["sequential", "joint"])
def exported(request, small, tmp_path_factory):
    path = tmp_path_factory.mktemp("states") / "deep" / f"{request.param}.npz"
    save_states(load_run(small[1], 0), request.param, path)
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def test_names_and_shapes(exported):
    assert exported.keys() == COMMON | ATTENTION
    n, t, h = exported["encoder_states"].shape
    s, v = exported["logits"].shape[1:]
    assert (n, t, s, h) == (16, 6, 6, 8)
    assert exported["scores"].shape == exported["attention"].shape == (n, s, t)
    assert exported["readout_decoder"].shape == exported["readout_context"].shape == (h, v)
    assert exported["metrics_json"].shape == ()


def test_arrays_agree_with_each_other(exported):
    a = exported
    for side in ("encoder", "decoder"):
        mask = a[f"{side}_mask"]
        whole = sum(a[f"{side}_{part}"] for part in ("temporal", "input", "delta"))
        np.testing.assert_allclose(whole[mask], a[f"{side}_states"][mask], atol=1e-6)
    logits = (
        a["decoder_states"] @ a["readout_decoder"]
        + a["context"] @ a["readout_context"]
        + a["readout_bias"]
    )
    np.testing.assert_allclose(logits, a["logits"], atol=1e-5)
    metrics = json.loads(str(a["metrics_json"]))
    right = a["logits"].argmax(-1) == a["targets"]
    np.testing.assert_allclose(
        metrics["token_accuracy"], right[a["decoder_mask"]].mean(), rtol=1e-6
    )
    total = sum(metrics["share"][i][j]["raw"] for i in metrics["share"] for j in metrics["share"])
    np.testing.assert_allclose(total, 1, rtol=1e-5)


def test_stored_metrics_are_those_of_the_sweep(small, exported):
    metrics = json.loads(str(exported["metrics_json"]))
    data = small[2].isel(run=0)
    for name in ("token_accuracy", "loss", "mean_attention_kl"):
        np.testing.assert_allclose(metrics[name], data[name], rtol=1e-4)


def test_without_attention_its_arrays_are_absent(small, tmp_path):
    arrays = save_states(load_run(small[1], 4), "joint", tmp_path / "ved.npz")
    assert arrays.keys() == COMMON


def test_bad_input_is_named(small, tmp_path):
    _, folder, _ = small
    with pytest.raises(InputError, match=r"run = 8 does not exist; .* runs 0 to 7"):
        load_run(folder, 8)
    with pytest.raises(InputError, match="run = -1 does not exist"):
        load_run(folder, -1)
    with pytest.raises(InputError, match=r"method = 'jiont' .*'joint'"):
        save_states(load_run(folder, 0), "jiont", tmp_path / "x.npz")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"out = .* cannot be written"):
        save_states(load_run(folder, 0), "joint", tmp_path / "file" / "x.npz")
