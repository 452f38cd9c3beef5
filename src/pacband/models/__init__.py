"""Model files: a fitted certified estimator and its certificate in one file, opened without running what it brings.

The file is a zip archive of a manifest, the certificate as `Certificate.save` writes it, and the model as skops writes
it, which is data and never code. Opening one rebuilds only types that are known to be harmless (`pacband.models.types`)
and hands out only what has been checked (`pacband.models.soundness`); all others have to be trusted by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate, revive
from pacband.models.archive import is_archive, read_archive, write_archive

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["is_model", "load", "load_certificate", "open_model", "save_model"]


def load(path: str | os.PathLike[str], *, trusted: Sequence[str | type] = ()) -> Any:
    """Read a certificate, or a fitted model with its certificate, from its file.

    Parameters
    ----------
    path : path
        What `save` of a certificate, a `CertifiedRegressor` or a `CertifiedFamily` wrote.
    trusted : sequence of str or type
        For models: further types that may be rebuilt, by their full names, such as those of ``lightgbm``. numpy,
        pacband, and the regressors and transformers of scikit-learn that can be checked need no mention. Rebuilding
        a type may run code of the package it belongs to, so name only those of packages you trust, in a file you
        trust.

    Returns
    -------
    Certificate, FamilyCertificate, GroupCertificate, CertifiedRegressor or CertifiedFamily

    Raises
    ------
    CertificateError
        If the file is damaged, truncated, edited, or written by a newer pacband, or if it holds types that are not
        trusted; the message says which.

    Examples
    --------
    >>> import pacband, pathlib, tempfile
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> path = cert.save(pathlib.Path(tempfile.mkdtemp()) / "cert.json")
    >>> pacband.load(path) == cert
    True
    """
    return open_model(path, trusted=trusted)[0]


def open_model(path: str | os.PathLike[str], *, trusted: Sequence[str | type] = ()) -> tuple[Any, dict[str, str]]:
    """Return what `load` does, and the kinds of a model's columns where the file tells."""
    data = Path(path).read_bytes()
    if not is_archive(data):
        return revive(data, os.fspath(path)), {}
    archive = read_archive(data, os.fspath(path))
    from pacband.models.parts import assemble
    from pacband.models.soundness import check_sound
    from pacband.models.trust import names_of, rebuild

    parts = rebuild(archive.model, os.fspath(path), archive.versions, trusted)
    estimator = assemble(archive.kind, parts, archive.certificates, archive.candidates)
    # Only now, for putting it together sets attributes as well.
    check_sound(estimator, os.fspath(path), names_of(trusted))
    estimator._columns_ = dict(archive.columns)
    return estimator, archive.columns


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a model file, rather than a certificate; told from its first bytes."""
    with open(path, "rb") as file:
        return is_archive(file.read(4))


def load_certificate(path: str | os.PathLike[str]) -> Certificate | FamilyCertificate | GroupCertificate:
    """Read the certificate of a certificate file or of a model file; the model itself is not touched."""
    data = Path(path).read_bytes()
    if not is_archive(data):
        return revive(data, os.fspath(path))
    return read_archive(data, os.fspath(path)).certificates[0]


def save_model(estimator: Certified, path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> Path:
    """Write a fitted certified estimator to a file, atomically; see `Certified.save`.

    `columns` are the kinds of its columns, "number" or "category", for files to come; by default those of its fit.
    """
    from pacband.models.parts import certificates_of, kind_of, take_apart
    from pacband.models.trust import dump, versions

    kind = kind_of(estimator)
    candidates, certificates = certificates_of(estimator)
    return write_archive(
        path,
        kind=kind,
        candidates=candidates,
        versions=versions(),
        columns=dict(getattr(estimator, "_columns_", {}) if columns is None else columns),
        certificates=certificates,
        model=dump(take_apart(estimator)),
    )
