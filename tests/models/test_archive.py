"""The archive of a model file: sizes are limited, and every edit is detected."""

import json
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pacband
from pacband import CertificateError
from pacband.models import load_certificate
from pacband.models.archive import _zip
from pacband.models.trust import UntrustedTypes
from support.forge import holding
from support.gallery import PLAIN, Y


def test_names_of_types_are_names(forge, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    for name in ("lightgbm.x; touch y", "a\x1b[31m", "a b", "a.", ".a", "", "$(x)"):
        with pytest.raises(CertificateError, match="does not follow its schema"):
            forged.data(trusted=[name])
    (tmp_path / "forged.pacband").write_bytes(forged.data(trusted=["os.system"]))
    with pytest.raises(UntrustedTypes, match=r"1 type\(s\) that pacband cannot check: os\.system\."):
        pacband.load(tmp_path / "forged.pacband")


def test_a_small_file_cannot_unpack_to_a_large_one(forge, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.add(np.zeros(100 << 17))
    path = tmp_path / "forged.pacband"
    path.write_bytes(forged.data())
    assert path.stat().st_size < 1 << 20
    honest = len(forged.block)
    lying = forged.data(arrays={"bytes": 10, "compressed": True})
    for data, said in (
        (path.read_bytes(), f"its arrays would unpack to {honest} bytes"),
        (lying, "its arrays are not of the size it states"),
        (forged.data(arrays={"bytes": 2**50, "compressed": True}), "would take about .* bytes of memory"),
    ):
        path.write_bytes(data)
        tracemalloc.start()
        try:
            with pytest.raises(CertificateError, match=said):
                pacband.load(path)
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()


def test_sizes_are_stated_and_limited_and_the_limit_can_be_raised(tmp_path):
    path = holding(
        KNeighborsRegressor(3).fit(np.random.default_rng(0).normal(size=(2000, 3)), np.arange(2000.0)), tmp_path / "m"
    )
    with pytest.raises(CertificateError, match=r"would take about \d+ bytes of memory, more than 50000") as caught:
        pacband.load(path, max_bytes=50_000)
    needed = int(str(caught.value).split("max_bytes=")[1].rstrip("."))
    assert pacband.load(path, max_bytes=needed).eps == 0.1
    with pytest.raises(CertificateError, match="more than"):
        pacband.load(path, max_bytes=needed - 1)
    for wrong in (0, -1, True, 1e9, "1"):
        with pytest.raises(pacband.InvalidInput, match=r"max_bytes must be (an integer|at least 1)"):
            pacband.load(path, max_bytes=wrong)


def _old_file(certificate):
    """Return a file as pacband wrote it before: a manifest, a certificate, and a dump of skops."""
    from hashlib import sha256

    files = {"certificate.json": certificate, "model.skops": b"PK\x05\x06" + bytes(18)}
    content = {
        "kind": "regressor",
        "candidates": [],
        "versions": {"pacband": "0.1.0", "scikit-learn": "1.6.0"},
        "columns": {},
        "files": {name: sha256(entry).hexdigest() for name, entry in files.items()},
    }
    document = {"schema": "pacband/model", "schema_version": 1, "content": content}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    document["sha256"] = sha256(text).hexdigest()
    return _zip({"manifest.json": (json.dumps(document, indent=2) + "\n").encode(), **files})


def test_files_of_before_are_refused_in_one_line(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    refused(
        _old_file(forged.others["certificate.json"]),
        "was written by an early version of pacband, in a format that is not supported any more",
    )


def test_edits_are_seen(forge, refused, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    data = forged.data()
    with zipfile.ZipFile(BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    other = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "other.json")

    def edited(**changes):
        return _zip({**files, **{name.replace("__", "."): content for name, content in changes.items()}})

    manifest, certificate = files["manifest.json"], files["certificate.json"]
    for changed, said in (
        (edited(certificate__json=other.read_bytes()), "was edited: its files are not those"),
        (edited(more__txt=b"more"), "was edited: its files are not those"),
        (edited(manifest__json=manifest.replace(b'"regressor"', b'"family"')), "edited or damaged"),
        (
            edited(manifest__json=manifest.replace(b'"schema_version": 2', b'"schema_version": 9')),
            "written by a newer pacband: its schema_version is 9",
        ),
        (_zip(dict(reversed(files.items()))), "it is not, byte for byte, what pacband wrote"),
        (_zip({"anything.txt": b"any archive"}), "an archive without a manifest"),
    ):
        refused(changed, said)
    forged.others["certificate.json"] = certificate.replace(b'"eps": 0.1', b'"eps": 0.2')
    refused(forged, "edited or damaged")
    forged.others = {"certificate.json": certificate, "more.txt": b"more"}
    refused(forged, r"was edited: it must contain certificate.json, model.json and model.arrays, got 4 files")


def test_changes_in_the_directory_of_the_archive_are_seen(forge, refused):
    data = forge(LinearRegression().fit(PLAIN, Y)).data()
    for place in range(data.index(b"PK\x01\x02"), len(data)):
        refused(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], "edited|damaged|truncated|newer|not a ")


def test_only_the_certificate_is_read_where_only_it_is_asked_for(forge, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.document["objects"].append({"kind": "nonsense"})
    (tmp_path / "forged.pacband").write_bytes(forged.data(arrays={"bytes": 2**50, "compressed": True}))
    assert load_certificate(tmp_path / "forged.pacband").eps == 0.1
