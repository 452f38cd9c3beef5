"""The contract of a solver: one way to compute T(x) and σ̂(x) of local models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from pacband.core.arrays import Floats, Indices
from pacband.local.model import Model

__all__ = ["Batch", "Piece", "Solver"]


class Piece(NamedTuple):
    """T(x) and σ̂²(x) of one model at some rows of X, in units of the model."""

    model: Model
    rows: Indices | slice
    prediction: Floats
    variance: Floats


class Batch(ABC):
    """Some points and the models to evaluate there. Batches are independent and may run in threads."""

    @abstractmethod
    def solve(self) -> list[Piece]:
        """Return the results of all models at all points of the batch."""


class Solver(ABC):
    """One way to solve the weighted ridge problems of local models. All ways agree.

    A solver has two duties, and no state of its own.

    1. At fit, `prepare` computes what depends on the fit alone. The result is kept in memory with the model, its design
       or its locality, so that models of a family share it. It is not written into files, pickles and copies:
       the first prediction after loading prepares it again.
    2. At predict, `batches` cuts the points into batches. The scratch space of a batch is at most `room` numbers,
       or what one point needs if that is more. Models with the same locality or design object share work.

    Attributes
    ----------
    parallel : bool
        Whether batches may run in threads side by side.
    """

    parallel: ClassVar[bool] = True

    @abstractmethod
    def prepare(self, models: Sequence[Model]) -> None:
        """Prepare these models together. Does nothing for models that are prepared."""

    @abstractmethod
    def batches(self, models: Sequence[Model], X: Floats, room: int) -> Iterator[Batch]:
        """Yield the batches that give the results of all (prepared) models at all rows of X."""
