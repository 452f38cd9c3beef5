"""The plan of a search: what was fitted, so that the same search can be repeated on a machine of any speed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from pacband.core.callers import caller_level
from pacband.core.documents import read_document, write_document
from pacband.core.row_hashes import row_fingerprints
from pacband.exceptions import InvalidInput

__all__ = ["SearchPlan", "training_digest"]

SCHEMA = "pacband/search-plan"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class SearchPlan:
    """What the search of an automatic family fits, instead of what a time budget allows.

    A time budget drops candidates by the clock, so its result depends on how busy the machine is. Every search records
    its plan as `CertifiedFamily.search_plan_`. With this plan, the same rows in the same order, the same `random_state`
    and the same versions of the libraries, ``CertifiedFamily("auto", search_plan=plan)`` finds the same family, to the
    last bit, in whatever time that takes. Other rows or another seed get a warning. A plan contains nothing of the
    calibration rows.

    Attributes
    ----------
    predictors, scales : tuple of str
        The predictors and the scale models to fit, by name. The search leaves out all others.
    all_rows : bool
        Whether the predictors of the family are fitted on all training rows, or on the screened ones.
    rows, columns : int
        The size of the training table of the search that was recorded.
    random_state : int or None
        The seed of that search; None if it was no number.
    training : str or None
        The SHA-256 of the fingerprints of its training rows, in their order; None if the type of the table is unknown.

    Examples
    --------
    >>> plan = SearchPlan(("linear", "extra trees"), ("trees",), all_rows=True, rows=800, columns=4)
    >>> SearchPlan.from_dict(plan.to_dict()) == plan
    True
    """

    predictors: tuple[str, ...]
    scales: tuple[str, ...]
    all_rows: bool
    rows: int
    columns: int
    random_state: int | None = None
    training: str | None = None

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the plan to a JSON file, atomically."""
        return write_document(path, SCHEMA, SCHEMA_VERSION, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SearchPlan:
        """Read a plan that `save` wrote. Raises `CertificateError` if the file is damaged or edited."""
        return cls.from_dict(read_document(path, SCHEMA, SCHEMA_VERSION))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values; without what is not known."""
        values = asdict(self) | {"predictors": list(self.predictors), "scales": list(self.scales)}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SearchPlan:
        """Return the plan of these values."""
        expected = [field.name for field in fields(cls) if field.default is MISSING]
        if not set(expected) <= values.keys() <= {field.name for field in fields(cls)}:
            raise InvalidInput(f"a plan must have {', '.join(expected)}, got {', '.join(map(str, values))}.")
        names = {name: tuple(map(str, values[name])) for name in ("predictors", "scales")}
        return cls(**{**values, **names})

    def check(self, predictors: Iterable[str], scales: Iterable[str], shape: tuple[int, int]) -> None:
        """Raise unless a search has what the plan names. Warn if its table has another size.

        Parameters
        ----------
        predictors, scales : iterable of str
            What the search could fit.
        shape : (int, int)
            The number of training rows and of columns.
        """
        for what, named, known in (("predictors", self.predictors, predictors), ("scales", self.scales, scales)):
            missing = [name for name in named if name not in list(known)]
            if missing:
                raise InvalidInput(
                    f"the plan names the {what} {', '.join(map(repr, missing))}, which this search does not have: it "
                    f"has {', '.join(known)}. Make the plan again, with this pacband and rows of this kind."
                )
        if not self.predictors:
            raise InvalidInput("the plan must name at least one predictor, got none.")
        if shape != (self.rows, self.columns):
            warnings.warn(
                f"the plan was recorded for {self.rows} training rows of {self.columns} columns, and these are "
                f"{shape[0]} rows of {shape[1]} columns: the same models are fitted, but the result is another one.",
                stacklevel=caller_level(),
            )

    def of_search(self, random_state: Any, training: str | None) -> SearchPlan:
        """Return the plan with the seed and the digest of the training rows of its search."""
        return replace(self, random_state=_seed(random_state), training=training)

    def warn_of_other_rows(self, random_state: Any, training: str | None) -> None:
        """Warn if the plan was recorded with another seed or from other training rows, as far as both are known."""
        other = []
        if self.random_state is not None and self.random_state != _seed(random_state):
            other.append(f"with random_state {self.random_state}, and this is {random_state!r}")
        if self.training is not None and training is not None and self.training != training:
            other.append("from other training rows, or in another order")
        if other:
            warnings.warn(
                f"the plan was recorded {', and '.join(other)}: the same models are fitted, but the result is another "
                "one.",
                stacklevel=caller_level(),
            )


def training_digest(X: Any, y: Any) -> str | None:
    """Return the SHA-256 of the fingerprints of rows in their order; None if the type of the table is unknown."""
    found = row_fingerprints(X, y)
    return None if found is None else sha256(found.astype("<u8").tobytes()).hexdigest()


def _seed(random_state: Any) -> int | None:
    """Return a random state that is a number; None if it is none."""
    return int(random_state) if isinstance(random_state, (int, np.integer)) else None
