"""One table and the jobs that every engine does on it, with the answer that arrays give."""

import json

import numpy as np
import pandas as pd

import pacband

N = 6000
PROMISE = {"eps": 0.1, "delta": 0.01}


def table(rng, n=N):
    """Rows whose scores have ties, zeros and a few large values."""
    frame = pd.DataFrame(
        {
            "y": rng.standard_normal(n),
            "p": 0.3 * rng.standard_normal(n),
            "s": rng.uniform(0.5, 2.0, n),
            "up": rng.uniform(0.2, 3.0, n),
            "z": rng.standard_normal(n),
            "q": rng.standard_normal(n),
            "site": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    frame.loc[::3, ["y", "p"]] = frame.loc[::3, ["y", "p"]].round(1)
    frame.loc[::50, "y"] = frame.loc[::50, "p"]
    return frame


def unit_table(rng, n_units=1500):
    """The table of all jobs, with machines of one to about ten rows, each at one site."""
    frame = table(rng)
    frame["machine"] = rng.integers(0, n_units, len(frame))
    frame["site"] = np.array(["north", "south", "west"])[frame["machine"] % 3]
    return frame


JOBS = {
    "Algorithm 1": {"prediction": "p"},
    "Algorithm 2": {"prediction": "p", "scale": "s"},
    "pair": {"prediction": "p", "scale": ("s", "up")},
    "upper": {"prediction": "p", "scale": "s", "side": "upper"},
    "lower": {"prediction": "p", "side": "lower"},
    "floor": {"prediction": "p", "scale": "s", "min_scale": 1.0},
    "largest": {"prediction": "p", "scale": "s", "rank": 1},
    "family": {"candidates": {"plain": "p", "scaled": ("p", "s"), "pair": ("p", ("s", "up"))}},
    "weights": {"candidates": {"plain": "p", "scaled": ("p", "s")}, "weights": {"plain": 0.3, "scaled": 0.7}},
    "family above": {"candidates": {"plain": "p", "other": ("q", "s")}, "side": "upper"},
    "outputs": {"target": ["y", "z"], "prediction": ["p", "q"], "scale": ["s", "up"]},
    "groups": {"prediction": "p", "scale": "s", "group": "site"},
}


def by_arrays(frame, job):
    """The certificate that the functions of arrays give."""
    options = dict(job)
    target = options.pop("target", "y")
    y = frame[target].to_numpy()
    parts = options.pop("candidates", None)

    def columns(prediction, scale=None):
        pair = tuple(frame[part].to_numpy() for part in scale) if isinstance(scale, tuple) else None
        return frame[prediction].to_numpy(), pair or (None if scale is None else frame[scale].to_numpy())

    if parts is not None:
        family = {n: columns(*(part if isinstance(part, tuple) else (part,))) for n, part in parts.items()}
        return pacband.certify_family(y, family, **PROMISE, **options)
    prediction, scale = columns(options.pop("prediction"), options.pop("scale", None))
    if group := options.pop("group", None):
        return pacband.certify_groups(y, prediction, frame[group].to_numpy(), scale, **PROMISE, **options)
    return pacband.certify(y, prediction, scale, **PROMISE, **options)


def stated(certificate):
    """What a certificate file says, but for its date and the names of the columns."""
    return json.loads(json.dumps(certificate.to_dict()), object_hook=lambda item: _without(item))


def _without(item):
    return {key: value for key, value in item.items() if key not in ("created", "columns")}
