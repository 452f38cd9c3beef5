"""`pacband keygen`, `sign` and `verify`: valid 0, not valid 1, bad input 2."""

import json
import stat

import pytest

import pacband as library
from pacband.core.signatures import key_fingerprint
from support.certificates import ALL_KINDS
from support.rewriting import redigested

pytest.importorskip("cryptography")


@pytest.fixture
def signed(run, tmp_path):
    """A certificate that is signed, as a user signs it."""
    ALL_KINDS["scaled"].save(tmp_path / "cert.json")
    assert run("keygen", "private.pem", "public.pem").returncode == 0
    done = run("sign", "cert.json", "--key", "private.pem")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Saved cert.json.sig\n")
    return tmp_path / "cert.json"


def test_a_valid_signature_prints_the_promise(signed, run):
    done = run("verify-signature", "cert.json", "--key", "public.pem")
    assert (done.returncode, done.stdout) == (0, f"{ALL_KINDS['scaled']}\n")
    assert done.stderr.startswith("The signature of cert.json is valid for the key ")
    found = json.loads(run("verify-signature", "cert.json", "--key", "public.pem", "--json").stdout)
    assert (found["valid"], found["promise"], found["about"]) == (True, ALL_KINDS["scaled"].promise, {})
    assert len(found["key"]) == 64


def test_verify_is_a_short_name(signed, run):
    line = ("cert.json", "--key", "public.pem")
    assert run("verify", *line) == run("verify-signature", *line)


def test_a_changed_file_is_exit_code_1(signed, run):
    redigested(signed, lambda content: content.update(created="2020-01-01"))
    assert library.load(signed).created == "2020-01-01"
    done = run("verify-signature", "cert.json", "--key", "public.pem")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the signature of cert.json is not valid for the key" in done.stderr
    done = run("verify-signature", "cert.json", "--key", "public.pem", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["valid"] is False


def test_another_key_is_exit_code_1(signed, run):
    run("keygen", "other.pem", "other.pub")
    assert run("verify-signature", "cert.json", "--key", "other.pub").returncode == 1


def test_damaged_signatures_are_not_valid(signed, run, tmp_path):
    for data in (b"", bytes(64), bytes(100)):
        (tmp_path / "cert.json.sig").write_bytes(data)
        assert run("verify-signature", "cert.json", "--key", "public.pem").returncode == 1


def test_keygen_prints_the_fingerprint_and_overwrites_nothing(run, tmp_path):
    done = run("keygen", "private.pem", "public.pem")
    assert done.returncode == 0
    assert stat.S_IMODE((tmp_path / "private.pem").stat().st_mode) == 0o600
    assert done.stdout == f"{key_fingerprint(tmp_path / 'public.pem')}\n"
    before = (tmp_path / "private.pem").read_bytes()
    done = run("keygen", "private.pem", "new.pem")
    assert (done.returncode, done.stdout) == (2, "")
    assert "private.pem exists: a key is never overwritten" in done.stderr
    assert (tmp_path / "private.pem").read_bytes() == before
    assert not (tmp_path / "new.pem").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["sign", "cert.json", "--key", "public.pem"], "public.pem is a public key: sign with the private key"),
        (["sign", "private.pem", "--key", "private.pem"], "private.pem is not a certificate or model of pacband"),
        (["sign", "cert.json", "--key", "none.pem"], "none.pem: No such file"),
        (["sign", "cert.json", "--key", "other.pem"], "cert.json.sig exists and is another signature: name another file, or add --overwrite"),
        (["sign", "cert.json", "--key", "private.pem", "-o", "below/cert.sig"], "there is no directory"),
        (["verify-signature", "cert.json", "--key", "private.pem"], "private.pem is a private key: verify with the public key"),
        (["verify-signature", "cert.json", "--key", "cert.json"], "cert.json must be a public Ed25519 key as a PEM file"),
        (["verify-signature", "cert.json", "--key", "public.pem", "--signature", "none.sig"], "none.sig: No such file"),
        (["verify-signature", "none.json", "--key", "public.pem"], "none.json: No such file"),
    ],
)  # fmt: skip
def test_bad_input_is_exit_code_2_and_nothing_is_written(line, message, signed, run, tmp_path):
    run("keygen", "other.pem", "other.pub")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(*line)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_signature_is_replaced_on_request(signed, run):
    run("keygen", "other.pem", "other.pub")
    assert run("sign", "cert.json", "--key", "other.pem", "--overwrite").returncode == 0
    assert run("verify-signature", "cert.json", "--key", "other.pub").returncode == 0
