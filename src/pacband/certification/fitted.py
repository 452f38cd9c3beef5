"""A fitted model in place of a certificate: it predicts raw rows by itself, and its certificate judges them.

`check`, `report`, `diagnose`, `Monitor` and `recalibrate` have two doors. One takes a certificate, y and predictions;
the other takes a model, X and y. `predict_rows` turns the second into the first: all that follows knows only one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pacband.certificate import About, AnyCertificate, check_certificate
from pacband.core.labels import Label
from pacband.core.row_hashes import Fingerprints
from pacband.draws import Draws
from pacband.exceptions import InvalidInput

__all__ = ["FittedModel", "PredictedRows", "certificate_of", "raw_rows"]


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Raw rows with what a model predicts of them, as a certificate takes them.

    Attributes
    ----------
    X : array-like or dataframe
        The features, without a column that declares the draws.
    y, y_pred, scale
        Targets, T(x) and σ̂(x), as in `certify`.
    groups : array-like or None
        The group of every row: by the model's own rule, or as the caller passed it.
    draws : Draws or None
        The draws of the rows, as `check` takes them.
    seen_units : tuple of labels
        The units that the model was fitted on. New rows of such a unit violate too seldom.
    """

    X: Any
    y: Any
    y_pred: Any
    scale: Any
    groups: Any
    draws: Draws | None
    seen_units: tuple[Label, ...] = ()


class FittedModel(ABC):
    """A model with a certificate. The certified estimators are such models."""

    certificate_: Any
    # Fingerprints of the rows that it was fitted on; None if nothing was fitted.
    training_rows_: Fingerprints | None

    @abstractmethod
    def predict_rows(self, X: Any, y: Any, *, groups: Any = None, draws: Draws | None = None) -> PredictedRows:
        """Return raw rows with what the model predicts of them, or raise."""

    @abstractmethod
    def count_seen_units(self, draws: Draws | None) -> int:
        """Return how many units of these draws the model was fitted on."""

    @abstractmethod
    def recalibrate(
        self,
        X: Any,
        y: Any,
        *,
        rule: str = "exact",
        draws: Draws | None = None,
        about: About | Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the model with the successor of its certificate."""

    @property
    def known_training(self) -> Fingerprints | None:
        """The fingerprints of the training rows, or None if there are none to compare with."""
        rows = self.training_rows_
        return rows if rows is not None and len(rows) else None


def certificate_of(given: AnyCertificate | FittedModel) -> AnyCertificate:
    """Return the certificate of a fitted model; a certificate as it is. Raise if a model is not fitted."""
    if not isinstance(given, FittedModel):
        return check_certificate(given)
    if not hasattr(given, "certificate_"):
        raise InvalidInput(f"this {type(given).__name__} has no certificate yet: call fit or calibrate first.")
    certificate: AnyCertificate = given.certificate_
    return certificate


def raw_rows(call: str, model: FittedModel, X: Any, y: Any, /, **others: Any) -> tuple[Any, Any]:
    """Return the X and y that were passed with a model, or raise unless it is fitted and nothing else was passed.

    `call` is the function as a user writes it, such as "check(model, X, y)". `others` must all be None.
    """
    certificate_of(model)
    if X is None or y is None:
        raise InvalidInput(f"with a model, pass raw rows: {call}.")
    for name, value in others.items():
        if value is not None:
            raise InvalidInput(f"{name} cannot be given with a model, which predicts by itself: {call}.")
    return X, y
