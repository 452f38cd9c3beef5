"""The columns of the table that a certificate was made from: the defaults for the next table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from pacband.scores.rule import SCALE_KINDS

__all__ = ["Columns", "Names"]

# The columns of one quantity: one, or one for each output.
Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are y, T(x), the parts of σ̂(x) and the group. Own scores are the target, without a prediction.

    `groups` are several columns of labels, whose groups overlap. If a row is a step of a run, `run` and `step` are the
    columns that state which, and `steps` are the steps of every run.
    """

    target: Names
    prediction: Names
    scale: tuple[Names, ...] = ()
    group: str | None = None
    groups: Names = ()
    run: str | None = None
    step: str | None = None
    steps: tuple[float, ...] = ()

    @property
    def scale_kind(self) -> str:
        """The kind of scale, as certificates name it: "none", "symmetric" or "asymmetric"."""
        return SCALE_KINDS[len(self.scale)]

    @property
    def numeric(self) -> Names:
        """All columns of numbers: those of y, T and σ̂."""
        return self.target + self.predicted

    @property
    def all(self) -> Names:
        """All columns."""
        return self.numeric + self.others

    @property
    def others(self) -> Names:
        """The columns of groups, runs and steps."""
        return tuple(name for name in (self.group, *self.groups, self.run, self.step) if name is not None)

    @property
    def others_than_run(self) -> Names:
        """The columns of groups and steps."""
        return tuple(name for name in (self.group, *self.groups, self.step) if name is not None)

    @property
    def predicted(self) -> Names:
        """The columns of T and σ̂."""
        return self.prediction + tuple(name for part in self.scale for name in part)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the columns under other names; groups, runs and steps keep theirs."""
        return replace(
            self,
            target=tuple(names[name] for name in self.target),
            prediction=tuple(names[name] for name in self.prediction),
            scale=tuple(tuple(names[name] for name in part) for part in self.scale),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as JSON-ready values."""
        return {
            "target": list(self.target),
            "prediction": list(self.prediction),
            "scale": [list(part) for part in self.scale],
            "group": self.group,
            # Written only where they apply: other files keep their bytes.
            **({"groups": list(self.groups)} if self.groups else {}),
            **({} if self.run is None else {"run": self.run, "step": self.step, "steps": list(self.steps)}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild the columns from `to_dict`."""
        return cls(
            target=tuple(content["target"]),
            prediction=tuple(content["prediction"]),
            scale=tuple(tuple(part) for part in content["scale"]),
            group=content["group"],
            groups=tuple(content.get("groups", ())),
            run=content.get("run"),
            step=content.get("step"),
            steps=tuple(content.get("steps", ())),
        )
