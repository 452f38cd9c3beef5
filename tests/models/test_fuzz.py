"""Thousands of changed model files: each is refused, or predicts, and none crashes, hangs or changes unseen.

A raw change of bytes must be refused. A change with every digest made right again must be refused when it is loaded, or
load as other data of the same kinds; such a model may then predict other numbers, or end in an error of Python, as any
model may whose numbers make no sense. What must not come of it: a crash of the process, a hang, an error other than ours
when it is loaded, memory beyond a limit, or characters of the file that reach a terminal.
"""

import json
import os
import select
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

from pacband.models.declarations import KINDS
from support.forge import holding
from support.gallery import CASES, TABLES, fitted
from support.mutations import ROWS, answers_of, mutated, write_case

TESTS = Path(__file__).parents[1]
# Seconds for one mutation, which takes some hundredths.
PATIENCE = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every case as a file, with a table that its model takes and what it says of it."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "kinds.json").write_text(json.dumps(sorted(KINDS)))
    for number, name in enumerate(CASES):
        model = fitted(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = holding(model, folder / "model.pacband").read_bytes()
            table, expected = _answered(model)
        write_case(folder, number, data, table, expected)
    return folder


def _answered(model):
    for number, table in enumerate(TABLES):
        try:
            found = answers_of(model, table[:ROWS].copy())
        except (TypeError, ValueError, IndexError, KeyError, AttributeError):
            continue
        if found[0].dtype.kind == "f":
            return number, found[0]
    raise AssertionError("no table fits")


def tried(folder, n_mutations, first=0):
    """Try mutations in processes of their own, beginning again after one that crashed; return what came of them."""
    counts, faults, place = Counter(), [], first
    while place < first + n_mutations:
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "support.mutations", str(folder), str(place), str(first + n_mutations), "1"]
        process = subprocess.Popen(
            [*command, str(writing)],
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=TESTS,
        )
        os.close(writing)
        begun, done = _followed(reading, counts, faults)
        if done is None:
            process.kill()
        process.wait()
        message = process.stderr.read()
        process.stderr.close()
        if done is not None and begun == done == first + n_mutations - 1:
            break
        assert begun is not None, message
        faults.append(
            f"mutation {begun}: {'hangs' if done is None else f'crashes, {process.returncode}'} {message[-500:]}"
        )
        place = begun + 1
    return counts, faults


def _followed(reading, counts, faults):
    """Read the lines of a process; return the last mutation that it began, and ended, None where it hangs."""
    begun = done = -1
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        rest = b""
        while True:
            ready, _, _ = select.select([pipe], [], [], PATIENCE)
            if not ready:
                return begun, None
            chunk = pipe.read(65536)
            if not chunk:
                return begun, done
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                number, *words = line.decode(errors="replace").split(" ", 2)
                if not words:
                    begun = int(number)
                    continue
                done = int(number)
                counts[words[0], words[1].split()[0]] += 1
                if words[1].startswith("FAULT"):
                    faults.append(f"mutation {number}: {words[1]}")


def _check(counts, faults, n_mutations):
    print(dict(counts))
    assert not faults, "\n".join(faults[:20])
    assert sum(counts.values()) == n_mutations
    assert set(counts) <= {("raw", "refused"), ("raw", "unchanged")} | {
        ("signed", word) for word in ("refused", "same", "other", "error", "unchanged")
    }
    # The mutations reach what is behind the digests.
    assert counts["signed", "refused"] > n_mutations // 10
    assert counts["signed", "other"] > n_mutations // 100


def test_three_hundred_changed_files_are_refused_or_predict(folder):
    counts, faults = tried(folder, 300)
    _check(counts, faults, 300)


@pytest.mark.verify
def test_twenty_thousand_changed_files_are_refused_or_predict(folder):
    counts, faults = tried(folder, 24_000, first=1_000)
    _check(counts, faults, 24_000)


def test_every_mutation_is_the_same_again(folder):
    data = min(folder.glob("*.case")).read_bytes()
    assert mutated(data, 7, sorted(KINDS)) == mutated(data, 7, sorted(KINDS))
    assert len({mutated(data, k, sorted(KINDS))[0] for k in range(50)}) > 45
