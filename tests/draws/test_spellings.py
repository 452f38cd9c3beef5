"""A unit whose label is written in two ways is one draw: every way in refuses it."""

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.draws import Units
from pacband.exceptions import InvalidInput

ERRORS = np.random.default_rng(0).standard_normal(400)
NUMBERS = np.repeat(np.arange(100), 2)
REFUSED = r"machines must be written in one way each: (0 and '0'|'0' and '0\.0') would count as two"
PROMISE = {"eps": 0.1, "delta": 0.1}


def test_arrays_and_frames():
    labels = [*NUMBERS.tolist(), *map(str, NUMBERS)]
    with pytest.raises(InvalidInput, match=REFUSED):
        pacband.certify(ERRORS, 0 * ERRORS, draws=Units(labels, name="machine"), **PROMISE)
    frame = pd.DataFrame({"y": ERRORS, "p": 0.0, "machine": labels})
    with pytest.raises(InvalidInput, match=REFUSED):
        pacband.certify_frame(frame, target="y", prediction="p", draws=Units("machine"), **PROMISE)


def test_pieces():
    pieces = [
        (ERRORS[:200], 0 * ERRORS[:200], None, NUMBERS),
        (ERRORS[200:], 0 * ERRORS[200:], None, NUMBERS.astype(str)),
    ]
    with pytest.raises(InvalidInput, match=REFUSED):
        pacband.certify_chunks(pieces, draws=Units("machine"), **PROMISE)


@pytest.mark.parametrize("within", ["all", 0.9])
def test_files(run, within):
    for name, labels in {"jan": map(str, NUMBERS), "feb": (f"{number}.0" for number in NUMBERS)}.items():
        pd.DataFrame({"y": ERRORS[:200], "p": 0.0, "machine": list(labels)}).to_csv(f"{name}.csv", index=False)
    columns = ["--target", "y", "--prediction", "p", "--unit", "machine", "--within", within]
    done = run("certify", "jan.csv", "feb.csv", *columns, "--eps", 0.1, "--delta", 0.1)
    assert done.returncode == 2
    assert "machines must be written in one way each: " in done.stderr


def test_a_monitor():
    cert = pacband.certify(ERRORS[:200], 0 * ERRORS[:200], draws=Units(NUMBERS, name="machine"), **PROMISE)
    monitor = pacband.Monitor(cert)
    monitor.update([0.0, 0.0, 0.0], [0.0] * 3, draws=Units([7, 7, 8]))
    with pytest.raises(InvalidInput, match="machines must be written in one way each: 7 and '7' would count as two"):
        monitor.update([0.0], [0.0], draws=Units(["7"]))
    assert monitor.update([0.0], [0.0], draws=Units([9])).rows == 1
