"""A made-up sweep with the shape of a loaded one, and values that tests can know."""

import numpy as np
import xarray as xr

PARTS = ["temporal", "input", "delta"]
SHARE = ("run", "method", "fit", "decoder_part", "encoder_part", "kind")
LABELS = {
    "method": ["sequential", "joint"],
    "fit": ["in_sample", "cross"],
    "decoder_part": PARTS,
    "encoder_part": PARTS,
    "kind": ["raw", "centred", "variance"],
}
STEPS = [0, 100, 200, 400]
WITHOUT = {"ved": ["attention"], "aed": [], "ao": ["cell"]}
SETTINGS = {"cell": "gru", "attention": "dot", "hidden_size": 64, "embedding_scale": 0.1}


def sweep(
    tasks=("one_to_one", "escan"),
    architectures=("ved", "aed", "ao"),
    seeds=4,
    steps=STEPS,
    **axes,
) -> xr.Dataset:
    """Every combination of tasks, architectures, the lists in `axes`, and seeds.

    Attention metrics are NaN for VED. Accuracy grows from 0.2 to 0.9 + 0.01 seed at the last
    step, at a pace of each architecture's own.
    """
    rows = []
    for task in tasks:
        for architecture in architectures:
            for values in np.ndindex(*(len(axis) for axis in axes.values())):
                chosen = {k: axes[k][i] for k, i in zip(axes, values, strict=True)}
                for seed in range(seeds):
                    row = {"task": task, "architecture": architecture, **SETTINGS, **chosen}
                    row |= dict.fromkeys(WITHOUT.get(architecture, []), "")
                    rows.append({**row, "num_words": 3.0, "seed": seed, "status": "ok"})
    names = list(rows[0])
    coords = {name: ("run", np.array([row[name] for row in rows])) for name in names}
    num = coords["num_words"][1]
    num[coords["task"][1] == "escan"] = np.nan
    coords["member"] = ("run", np.array([f"{n:016x}" for n in range(len(rows))]))
    coords |= {"run": np.arange(len(rows)), "step": np.array(steps), **LABELS}

    seed = coords["seed"][1]
    attends = coords["architecture"][1] != "ved"
    pace = 100.0 * (1 + np.unique(coords["architecture"][1], return_inverse=True)[1] + seed / 4)
    rise = 1 - np.exp(-np.array(steps)[None, :] / pace[:, None])
    accuracy = 0.2 + (0.7 + 0.01 * seed)[:, None] * (rise / np.maximum(rise[:, -1:], 1e-9))
    kl = np.where(attends, 0.5 + 0.1 * seed, np.nan)
    share = np.random.default_rng(0).dirichlet([6, 1, 2, 1, 3, 1, 1, 1, 1], (len(rows), 2, 2, 3))
    share = np.moveaxis(share, -1, 3).reshape(len(rows), 2, 2, 3, 3, 3)
    share = np.where(attends[:, None, None, None, None, None], share, np.nan)
    variables = {
        "token_accuracy": ("run", accuracy[:, -1]),
        "token_accuracy_initial": ("run", accuracy[:, 0]),
        "token_accuracy_curve": (("run", "step"), accuracy),
        "mean_attention_kl": ("run", kl),
        "mean_attention_kl_initial": ("run", kl / 10),
        "share": (SHARE, share),
        "share_initial": (SHARE, np.where(np.isnan(share), np.nan, 1 / 9)),
        "share_curve": (
            ("run", "step", *SHARE[1:]),
            np.repeat(share[:, None], len(steps), axis=1),
        ),
    }
    return xr.Dataset(variables, coords, attrs={"title": "synthetic", "provenance": "{}"})


def with_status(data: xr.Dataset, **runs: list[int]) -> xr.Dataset:
    """The sweep with runs given another status, as `diverged=[0, 3]`."""
    status = data["status"].values.astype("<U8")
    for name, places in runs.items():
        status[places] = name
    return data.assign_coords(status=("run", status))
