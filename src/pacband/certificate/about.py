"""`About`: who issued a certificate, about which model and which target.

A certificate bounds the errors of one model. These texts say which. They change nothing of the promise, but they are a
part of what the certificate states: its digest and a signature cover them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pacband.exceptions import InvalidInput

__all__ = ["About", "AboutModel", "as_about"]

# The most characters of a field. The unit stands in the promise itself, so it must be short.
_LONGEST = {"unit": 40, "scope": 2000, "note": 2000}
_LONGEST_OTHER = 200
# Control characters, line breaks, surrogates, private characters, and format characters: these are invisible, or change
# the direction of writing. Two texts that differ only in them look the same.
_REFUSED_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# What else is invisible: fillers, variation selectors, and what Unicode reserves for such.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
# What continues the number before it: "1.71 ×0.001 mm", "1.71 e3 N".
_CONTINUES = re.compile(r"[.,'’·⋅∙•×*^/+±−-]|[eExX]\s*[+−-]?\s*\d")


@dataclass(frozen=True, kw_only=True, slots=True)
class AboutModel:
    """Which model a certificate is about.

    Attributes
    ----------
    name, version : str or None
        As its makers call it.
    digest : str or None
        The SHA-256 that identifies it, in 64 hexadecimal digits; see `model_digest`.
    """

    name: str | None = None
    version: str | None = None
    digest: str | None = None

    def __post_init__(self) -> None:
        _check_text("model name", self.name)
        _check_text("model version", self.version)
        if self.digest is not None and (
            not isinstance(self.digest, str) or not re.fullmatch(r"[0-9a-f]{64}", self.digest)
        ):
            raise InvalidInput(f"model digest must be 64 hexadecimal digits, a SHA-256, got {self.digest!r}.")

    def __str__(self) -> str:
        words = " ".join(filter(None, (self.name, self.version)))
        return ", ".join(filter(None, (words, self.digest and f"SHA-256 {self.digest}")))


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """Who issued a certificate, and what it is about. Every field is optional.

    Every function that makes certificates takes it: ``certify(…, about=About(name="seal wear", unit="mm"))``. A mapping
    of the same names serves as well. A successor keeps it, except for the version and the digest of the model; see
    `recalibrate`.

    Parameters
    ----------
    name : str, optional
        The name of the certificate, such as that of the product or the machine.
    target : str, optional
        What is predicted.
    unit : str, optional
        The unit of the target, at most 40 characters. It follows the bound wherever the bound is in this unit, so it
        cannot start with a number or a sign of arithmetic: "per h", not "1/h".
    model : AboutModel, mapping or str, optional
        The model: its name, version and digest. A text is its name.
    issued_by : str, optional
        The person or the team that issues the certificate.
    scope : str, optional
        Where the promise is meant to be used.
    note : str, optional
        Anything else.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> about = pacband.About(name="seal wear", unit="mm", model={"name": "forest", "version": "3.1"})
    >>> errors = np.random.default_rng(0).standard_normal(1000)
    >>> cert = pacband.certify(errors, np.zeros(1000), eps=0.1, delta=0.01, about=about)
    >>> print(cert.promise)
    With confidence 99 %, at least 90 % of future errors satisfy |y − T(x)| ≤ 1.71344 mm.
    >>> cert.about.model.version
    '3.1'
    """

    name: str | None = None
    target: str | None = None
    unit: str | None = None
    model: AboutModel | None = None
    issued_by: str | None = None
    scope: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            _check_text(name, getattr(self, name))
        if self.unit is not None:
            _check_unit(self.unit.strip())
        object.__setattr__(self, "model", _as_model(self.model))

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))

    def facts(self) -> list[tuple[str, str]]:
        """Return what is known, as names and texts in the order of reading."""
        stated = {
            "name": self.name,
            "target": self.target and self.in_unit(self.target),
            "unit": None if self.target else self.unit,
            "model": self.model and str(self.model),
            "issued by": self.issued_by,
            "scope": self.scope,
            "note": self.note,
        }
        return [(name, text) for name, text in stated.items() if text]

    def in_unit(self, name: str) -> str:
        """Return the name of a quantity with the unit of the target, if there is one: "half-width, in mm"."""
        return f"{name}, in {self.unit}" if self.unit else name

    @property
    def axis(self) -> str:
        """The label of an axis that shows the target: "wear, in mm", or "y"."""
        return self.in_unit(self.target or "y")

    def with_digest(self, digest: str | None) -> About:
        """Return the same with the digest of the model, unless one is stated or none is known."""
        model = self.model or AboutModel()
        if digest is None or model.digest is not None:
            return self
        return replace(self, model=replace(model, digest=digest))

    def for_new_model(self) -> About:
        """Return the same without the version and the digest of the model: the next model has others."""
        return self if self.model is None else replace(self, model=AboutModel(name=self.model.name))

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as JSON-ready values."""
        stated = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.model is not None:
            stated["model"] = _known({field.name: getattr(self.model, field.name) for field in fields(self.model)})
        return _known(stated)


_TEXTS = tuple(field.name for field in fields(About) if field.name != "model")


def as_about(about: Any) -> About:
    """Return what a user passed as `about`: nothing, an `About`, or a mapping of its fields; or raise."""
    if about is None:
        return _NOTHING
    if isinstance(about, About):
        return about
    return About(**_fields("about", about, About))


def _as_model(model: Any) -> AboutModel | None:
    if model is None or isinstance(model, AboutModel):
        return model if model != AboutModel() else None
    if isinstance(model, str):
        return AboutModel(name=model)
    return _as_model(AboutModel(**_fields("model", model, AboutModel)))


def _fields(name: str, given: Any, kind: type[About] | type[AboutModel]) -> dict[str, Any]:
    """Return a mapping of the fields of About or AboutModel, or raise if it is none, or has other names."""
    known = [field.name for field in fields(kind)]
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{name} must be {kind.__name__} or a mapping of {', '.join(known)}, got {given!r}.")
    if unknown := [key for key in given if key not in known]:
        raise InvalidInput(f"{name} has the fields {', '.join(known)}, got {unknown[0]!r}.")
    return dict(given)


def _check_text(name: str, text: Any) -> None:
    """Raise unless a text is None, or printable and of a sensible length."""
    if text is None:
        return
    most = _LONGEST.get(name, _LONGEST_OTHER)
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{name} must be a text that is not empty, got {text!r}.")
    if len(text) > most:
        raise InvalidInput(f"{name} must have at most {most} characters, got {len(text)}.")
    for position, character in enumerate(text):
        if unicodedata.category(character) in _REFUSED_KINDS or _INVISIBLE.match(character):
            raise InvalidInput(
                f"{name} must be one line without control characters, got U+{ord(character):04X} at position "
                f"{position}, which cannot be seen."
            )


def _check_unit(unit: str) -> None:
    """Raise if a unit reads as a part of the bound, which it stands behind."""
    if unicodedata.category(unit[0]).startswith("N") or _CONTINUES.match(unit):
        raise InvalidInput(
            f"unit must not start like a part of the number before it, got {unit!r}: write 'per h' for '1/h', and "
            "convert y where a factor is needed."
        )


def _known(stated: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if value is not None}


# A file of many groups without it has one for all of them.
_NOTHING = About()
