"""Files whose digest is right and whose content is absurd: certificates and monitor states end in CertificateError."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import pacband
from pacband.core.documents import _digest, _serialize
from pacband.exceptions import CertificateError


def redigested(path, change):
    """Change a document by a function of its content, and give it the digest of what it now is."""
    document = json.loads(path.read_text())
    change(document["content"])
    document["sha256"] = _digest({key: value for key, value in document.items() if key != "sha256"})
    path.write_bytes(_serialize(document))


@pytest.fixture
def single(rng, tmp_path):
    cert = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    return cert.save(tmp_path / "cert.json")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_samples", 10**4000),
        ("n_samples", 10**12 + 1),
        ("n_samples", 1e30),
        ("n_samples", 2000.0),
        ("rank", 10**4000),
        ("rank", 10**12),
        ("n_candidates", 10**4000),
        ("n_outputs", 10**4000),
        ("generation", 10**4000),
        ("gamma", 10**4000),
        ("gamma", -(10**400)),
        ("min_scale", 10**400),
        ("gauge", [[10**400]]),
        ("eps", 1e-320),
        ("delta", 5e-324),
        ("weight", 5e-324),
        ("created", "x" * 100_000),
        ("pacband_version", "9" * 100_000),
        ("expected_violation", 0.5),
        ("attained_delta", 0.5),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_certificate_with_absurd_values_is_refused(single, name, value):
    redigested(single, lambda content: content.update({name: value}))
    with pytest.raises(CertificateError) as caught:
        pacband.load(single)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("levels", [100, 500, 2000, 100_000])
def test_deep_nesting_is_refused(single, levels):
    text = single.read_text().replace('"gauge": "max"', f'"gauge": {"[" * levels}{"]" * levels}')
    single.write_text(text)
    with pytest.raises(CertificateError):
        pacband.load(single)


def test_a_promise_in_words_that_contradicts_the_numbers_is_refused(single):
    promise = pacband.load(single).promise

    def widen(content):
        content["promise"] = content["promise"].replace("95 %", "99.9 %")

    redigested(single, widen)
    with pytest.raises(CertificateError, match="its promise in words is not that of its numbers, which say: With"):
        pacband.load(single)
    # The same numbers in other words are the same promise.
    redigested(single, lambda content: content.update(promise=f"So be it. {promise}"))
    assert pacband.load(single).promise == promise
    redigested(single, lambda content: content.update(promise=promise.replace("≤ ", "≤ 1")))
    with pytest.raises(CertificateError, match="its promise in words"):
        pacband.load(single)
    # Another version may word it otherwise.
    redigested(single, lambda content: content.update(pacband_version="0.0.9"))
    assert pacband.load(single).eps == 0.05


def test_words_inside_families_and_groups_are_compared_as_well(rng, tmp_path):
    y = rng.standard_normal(3000)
    family = pacband.certify_family(y, {"a": np.zeros(3000), "b": np.ones(3000)}, eps=0.1, delta=0.01)
    groups = pacband.certify_groups(y, np.zeros(3000), np.arange(3000) % 2, eps=0.1, delta=0.01)
    for cert, parts in ((family, "candidates"), (groups, "groups")):
        path = cert.save(tmp_path / "cert.json")
        assert pacband.load(path) == cert
        redigested(path, lambda content, parts=parts: content[parts][1]["certificate"].update(promise="All is well."))
        with pytest.raises(CertificateError, match="promise in words"):
            pacband.load(path)
        path = cert.save(tmp_path / "cert.json")
        redigested(path, lambda content: content.update(promise="All is well."))
        with pytest.raises(CertificateError, match="promise in words"):
            pacband.load(path)
        path = cert.save(tmp_path / "cert.json")
        redigested(path, lambda content, parts=parts: content[parts].append(content[parts][0]))
        with pytest.raises(CertificateError, match="3 certificates under 2 names"):
            pacband.load(path)


@pytest.fixture
def state(single, rng, tmp_path):
    monitor = pacband.Monitor(pacband.load(single))
    monitor.update(rng.standard_normal(3000), np.zeros(3000), batch_id="a")
    return monitor.save(tmp_path / "state.json")


WATCHES = [
    {"n_violations": 3001},
    {"n_rows": 10**30, "n_violations": 0},
    {"n_rows": 1e30},
    {"n_rows": 10**4000},
    {"n_rows": 3000.0},
    {"quiet": 10**30},
    {"quiet": 3001},
    {"n_unlabelled": 10**4000},
    {"n_warnings": 10**4000},
    {"warned_at": 3001},
    {"revoked_at": 10**30},
    {"revoked_at": 3001},
    {"detector": [10**400, 0, 0]},
    {"trace": "9" * 5000 + ":1"},
    {"trace": "1:2"},
    {"trace": "512:3 256:2"},
    {"trace": "512:3 1024:2"},
    {"trace": "4000:2"},
    {"trace": " ".join(["1:1"] * 10_000)},
    {"label": 10**400},
    # Evidence that would have revoked the certificate, and a state that says nothing of it.
    {"n_violations": 2900, "trace": ""},
]


@pytest.mark.parametrize("changes", WATCHES, ids=[str(changes)[:30] for changes in WATCHES])
def test_a_state_with_absurd_counts_is_refused(single, state, changes):
    redigested(state, lambda content: content["watches"][0].update(changes))
    with pytest.raises(CertificateError) as caught:
        pacband.Monitor.load(state, pacband.load(single))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": 5e-324},
        {"false_alarm_interval": 10**400},
        {"state": "warning"},
        {"state": "revoked"},
        {"batches": ["x" * 100_000]},
        {"batches": [str(k) for k in range(1025)]},
        {"streams": [{"offset": 10**4000, "rows": 1, "sha256": "0" * 64}]},
    ],
)
def test_a_state_with_absurd_settings_is_refused(single, state, changes):
    redigested(state, lambda content: content.update(changes))
    with pytest.raises(CertificateError) as caught:
        pacband.Monitor.load(state, pacband.load(single))
    assert len(str(caught.value)) < 1000


def test_an_integer_that_no_float_holds_is_no_probability():
    for value in (10**400, -(10**400), math.inf):
        with pytest.raises(pacband.exceptions.InvalidInput):
            pacband.plan(value, 0.1)
        with pytest.raises(pacband.exceptions.InvalidInput):
            pacband.Monitor(pacband.certify([1.0] * 100, [0.0] * 100, eps=0.1, delta=0.1), false_alarm_interval=value)


FILES = Path(__file__).parents[1] / "files"


def test_files_that_were_written_earlier_still_load(tmp_path):
    names = ("single", "family", "groups", "matrix", "successor")
    certificates = {name: pacband.load(FILES / f"{name}.json") for name in names}
    assert certificates["successor"].predecessor == certificates["single"].digest
    for state, name in (("monitor", "single"), ("monitor_of_groups", "groups")):
        monitor = pacband.Monitor.load(shutil.copy(FILES / f"{state}.json", tmp_path), certificates[name])
        assert monitor.n_rows == 3000
        assert (monitor.state == "revoked") == (name == "groups")
