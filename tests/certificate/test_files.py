"""Certificate files: damage, edits and forgeries are refused, and the error states which."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pacband
from pacband import Certificate, CertificateError, InvalidInput, certify, load
from pacband.certificate.files import check_certificate
from pacband.core.wording import bound, round_up
from support.certificates import ALL_KINDS, changed
from support.rewriting import redigested, rewrite

FILE = {}


@pytest.fixture(scope="module", autouse=True)
def _file(tmp_path_factory):
    FILE["path"] = tmp_path_factory.mktemp("certificates") / "cert.json"
    FILE["data"] = ALL_KINDS["family"].save(FILE["path"]).read_bytes()


@given(st.data())
def test_any_changed_byte_is_detected(data):
    original = FILE["data"]
    position = data.draw(st.integers(0, len(original) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != original[position]))
    FILE["path"].write_bytes(original[:position] + bytes([value]) + original[position + 1 :])
    with pytest.raises(CertificateError):
        load(FILE["path"])


@given(st.data())
def test_any_truncation_is_detected_and_named(data):
    original = FILE["data"]
    FILE["path"].write_bytes(original[: data.draw(st.integers(0, len(original) - 3))])
    with pytest.raises(CertificateError, match=r"truncated|damaged"):
        load(FILE["path"])


@pytest.mark.parametrize(
    ("change", "resign", "message"),
    [
        (lambda d: d["content"].update(gamma=0.1), False, "edited or damaged: its content does not match its digest"),
        (lambda d: d.update(schema_version=2), True, "written by a newer pacband: its schema_version is 2"),
        (lambda d: d.update(schema="other"), True, "is not a certificate or model of pacband"),
        (lambda d: d["content"].update(eps=1e-4), True, "does not certify eps=0.0001"),
        (lambda d: d["content"].update(rank=399), True, "does not certify"),
        (lambda d: d["content"].update(side="sideways"), True, "does not follow its schema"),
        (lambda d: d["content"].pop("delta"), True, "does not follow its schema"),
        (lambda d: d["content"].update(extra=1), True, "does not follow its schema"),
    ],
)
def test_a_doctored_file_is_refused(change, resign, message, tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    rewrite(path, change, resign=resign)
    with pytest.raises(CertificateError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "truncated"),
        ("[]", "is not a certificate or model of pacband"),
        ('{\n  "sch', "truncated"),
        # A file that begins as certificates do is damaged. Another one is something else.
        ('{\n  "schema": "pacband/certificate"} extra', "damaged: not JSON"),
        ('{\n  "schema": "pacband/certificate", "content": NaN}', "damaged: NaN is not JSON"),
        ('{\n  "schema": "pacband/certificate", "content": ' + "[" * 100_000, "damaged|truncated"),
        ("{} extra", "is not a certificate or model of pacband"),
        ("y,yhat\n1,2\n", "is not a certificate or model of pacband"),
        ('{"y": 1}\n{"y": 2}\n', "is not a certificate or model of pacband"),
        ("[" * 100_000, "is not a certificate or model of pacband"),
    ],
)
def test_what_is_no_certificate_is_refused(text, message, tmp_path):
    path = tmp_path / "cert.json"
    path.write_text(text)
    with pytest.raises(CertificateError, match=message):
        load(path)
    path.write_bytes(b"Fl\xe4che;Ort\n")
    with pytest.raises(CertificateError, match="is not a certificate or model of pacband"):
        load(path)
    path.write_bytes(b'{\n  "schema": "\xff')
    with pytest.raises(CertificateError, match="damaged"):
        load(path)


def test_reformatted_file_is_refused(tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(CertificateError, match="edited or reformatted"):
        load(path)


def test_missing_file_is_a_file_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.json")


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
    with pytest.raises(
        CertificateError, match="its promise in words does not agree with its numbers, which state: With"
    ):
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


FILES = Path(__file__).parents[1] / "files"


def test_files_that_were_written_earlier_still_load(tmp_path):
    names = ("single", "family", "groups", "matrix", "successor", "runs", "overlapping")
    certificates = {name: pacband.load(FILES / f"{name}.json") for name in names}
    assert (certificates["runs"].n_steps, certificates["overlapping"].overlapping) == (4, True)
    assert certificates["successor"].predecessor == certificates["single"].digest
    for state, name in (("monitor", "single"), ("monitor_of_groups", "groups")):
        monitor = pacband.Monitor.load(shutil.copy(FILES / f"{state}.json", tmp_path), certificates[name])
        assert monitor.n_rows == 3000
        assert (monitor.state == "revoked") == (name == "groups")


def test_the_state_of_a_monitor_of_units_still_loads(tmp_path):
    certificate = pacband.load(FILES / "machines.json")
    assert "at least 80 % of future machines keep at least 75 % of their errors" in certificate.promise
    path = shutil.copy(FILES / "monitor_of_units.json", tmp_path)
    monitor = pacband.Monitor.load(path, certificate)
    assert (monitor.n_rows, monitor.open_units) == (29, ("n29",))
    before = Path(path).read_bytes()
    monitor.save(path)
    assert Path(path).read_bytes() == before
    assert monitor.finish().rows == 1


def test_an_earlier_file_of_a_series_states_an_expected_violation_and_is_read():
    assert pacband.load(FILES / "spaced_with_expected_violation.json") == pacband.load(FILES / "spaced.json")


@pytest.mark.parametrize("name", ["units", "average", "spaced", "interval"])
def test_files_that_were_written_earlier_are_written_again_with_equal_bytes(name, tmp_path):
    cert = pacband.load(FILES / f"{name}.json")
    assert cert.save(tmp_path / "again.json").read_bytes() == (FILES / f"{name}.json").read_bytes()


@pytest.fixture
def cert(rng):
    return certify(rng.standard_normal(200), np.zeros(200), eps=0.1, delta=0.1)


@pytest.mark.parametrize("error", [OverflowError("too large"), MemoryError("full"), TypeError("no"), ValueError("odd")])
def test_numbers_that_cannot_be_computed_with_make_no_certificate(cert, tmp_path, monkeypatch, error):
    path = cert.save(tmp_path / "cert.json")

    def fail(content):
        raise error

    monkeypatch.setattr(Certificate, "from_dict", fail)
    with pytest.raises(CertificateError, match=rf"cert\.json: its numbers do not make a certificate: {error}\."):
        load(path)


def test_only_a_certificate_is_one(cert):
    assert check_certificate(cert) is cert

    class Fitted:
        certificate_ = cert

    with pytest.raises(
        InvalidInput, match=r"certificate must be one that pacband made, got Fitted\. Pass its certificate_\.$"
    ):
        check_certificate(Fitted())
    with pytest.raises(InvalidInput, match=r"certificate must be one that pacband made, got dict\.$"):
        check_certificate(cert.to_dict())


def test_the_attained_delta_that_a_file_states_may_be_delta_and_no_more(cert, tmp_path):
    # All δ is used where the attained one is asked for.
    exact = changed(cert, delta=cert.attained_delta)
    assert exact.attained_delta == exact.delta
    assert load(exact.save(tmp_path / "cert.json")) == exact


@pytest.mark.parametrize(("size", "earlier"), [(4e6, r"e+06"), (4e12, r"e+12"), (4e-8, r"e-08")])
def test_a_file_that_states_a_large_bound_with_an_exponent_is_read(tmp_path, size, earlier):
    errors = np.linspace(-size, size, 400)
    certificate = pacband.certify(errors, 0 * errors, eps=0.1, delta=0.01)
    certificate.save(tmp_path / "large.json")
    text = f"{round_up(certificate.gamma, 6):g}"
    assert text.endswith(earlier)
    assert text not in certificate.promise
    promise = certificate.promise.replace(bound(certificate.gamma), text)
    redigested(tmp_path / "large.json", lambda content: content.update(promise=promise))
    assert pacband.load(tmp_path / "large.json") == certificate
    promise = promise.replace(earlier, "e+03")
    redigested(tmp_path / "large.json", lambda content: content.update(promise=promise))
    with pytest.raises(CertificateError, match="its promise in words"):
        pacband.load(tmp_path / "large.json")
