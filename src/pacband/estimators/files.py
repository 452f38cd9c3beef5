"""`load`: certificates and fitted certified estimators from their files.

scikit-learn is imported only if the file holds a model.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pacband.certificate import revive
from pacband.core.zip_files import is_zip
from pacband.exceptions import CertificateError, UntrustedTypes
from pacband.models.archive import MAX_BYTES, Archive, read_archive

__all__ = ["load"]


def load(path: str | os.PathLike[str], *, trusted: Sequence[str | type] = (), max_bytes: int = MAX_BYTES) -> Any:
    """Read a certificate, or a fitted model with its certificate, from its file.

    The digest in a file protects against accidents, not against people: a person who edits a file can compute a new
    digest, and the file loads. Where that matters, sign files with `pacband.sign`, or compute the certificate again
    from the rows with `verify`.

    Parameters
    ----------
    path : path
        What `save` of a certificate, a `CertifiedRegressor` or a `CertifiedFamily` wrote.
    trusted : sequence of str or type
        For models: types that pacband cannot check, by their full names, such as ``lightgbm.LGBMRegressor``. Only files
        that were saved with ``trusted`` hold any. Loading such a type may run code of the package it belongs to, so
        name only those of packages you trust, in a file you trust.
    max_bytes : int
        The memory that a model may take, going by the sizes it states; by default 1 GiB. A file that states more is
        refused before anything of it is unpacked.

    Returns
    -------
    Certificate, FamilyCertificate, GroupCertificate, CertifiedRegressor or CertifiedFamily

    Raises
    ------
    CertificateError
        If the file is damaged, truncated, edited by hand, too large, or written by a newer pacband, or if it holds
        types that are not trusted. The message states which.

    Examples
    --------
    >>> import pacband, pathlib, tempfile
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> path = cert.save(pathlib.Path(tempfile.mkdtemp()) / "cert.json")
    >>> pacband.load(path) == cert
    True
    """
    source, data = os.fspath(path), Path(path).read_bytes()
    if not is_zip(data):
        return revive(data, source)
    archive = read_archive(data, source, max_bytes=max_bytes)
    from pacband.estimators.assembling import assemble
    from pacband.models.content import read_content
    from pacband.models.trust import Trust
    from pacband.models.values import Unsound
    from pacband.models.versions import described, versions, warn_of_another

    trust = Trust(trusted, archive.objects)
    missing = sorted(set(archive.trusted) - trust.names)
    if missing:
        raise UntrustedTypes(source, missing)
    # Trust only the types that the file names at its top.
    trust.names &= set(archive.trusted)
    try:
        parts = read_content(archive.model, archive.arrays, trust)
        estimator = assemble(archive.kind, parts, archive.certificates, archive.candidates)
    except Unsound as error:
        raise CertificateError(
            f"{source} was forged or damaged, or was saved with other versions: {error}. It was saved with "
            f"{described(archive.versions)}; this is {described(versions())}."
        ) from None
    _check_digest(archive, source)
    warn_of_another(archive.versions, source, stacklevel=3)
    estimator.column_kinds_, estimator.target_columns_ = dict(archive.columns), archive.target
    return estimator


def _check_digest(archive: Archive, source: str) -> None:
    """Raise if a certificate in a model file states the digest of another model.

    With trusted types, the user alone states a digest: it may be that of the file that the model came from.
    """
    from pacband.models.digest import archive_digest

    models = [certificate.basis.about.model for certificate in archive.certificates]
    stated = {model.digest for model in models if model is not None and model.digest is not None}
    if stated and not archive.objects and stated != {found := archive_digest(archive, source)}:
        raise CertificateError(
            f"{source} holds a certificate of another model: it states the digest {', '.join(sorted(stated))}, and the "
            f"model in the file has {found}."
        )
