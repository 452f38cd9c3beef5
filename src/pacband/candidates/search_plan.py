"""The plan of a search: what was fitted, so that the same search can be repeated on a machine of any speed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pacband.core.documents import read_document, write_document
from pacband.exceptions import InvalidInput

__all__ = ["SearchPlan"]

SCHEMA = "pacband/search-plan"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class SearchPlan:
    """What the search of an automatic family fits, instead of what a time budget allows.

    A time budget drops candidates by the clock, so its result depends on how busy the machine is. Every search records
    its plan as `CertifiedFamily.plan_`. With this plan, the same rows, the same `random_state` and the same versions of
    the libraries, ``CertifiedFamily("auto", plan=plan)`` finds the same family, to the last bit, in whatever time that
    takes. A plan contains nothing of the calibration rows.

    Attributes
    ----------
    predictors, scales : tuple of str
        The predictors and the scale models to fit, by name. The search leaves out all others.
    all_rows : bool
        Whether the predictors of the family are fitted on all training rows, or on the screened ones.
    rows, columns : int
        The size of the training table of the search that was recorded.

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

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the plan to a JSON file, atomically."""
        return write_document(path, SCHEMA, SCHEMA_VERSION, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SearchPlan:
        """Read a plan that `save` wrote. Raises `CertificateError` if the file is damaged or edited."""
        return cls.from_dict(read_document(path, SCHEMA, SCHEMA_VERSION))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return asdict(self) | {"predictors": list(self.predictors), "scales": list(self.scales)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SearchPlan:
        """Return the plan of these values."""
        expected = [field.name for field in fields(cls)]
        if values.keys() != set(expected):
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
                stacklevel=2,
            )
