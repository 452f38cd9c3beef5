"""Units of a stream: a unit that arrives in pieces is held until it is complete, and only then counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pacband.core.labels import Label, as_labels, factorize, listed, refuse_two_spellings
from pacband.draws import Draws, Units
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import CertificateError, InvalidInput
from pacband.judging.judge import Judge, Judged
from pacband.monitoring.counting import Counted, Counting
from pacband.monitoring.ledger import append_entry, shorten

__all__ = ["OpenUnit", "WholeUnits"]

# The last units that were counted are remembered, so that none of them counts twice.
MOST_UNITS = 1024


@dataclass(frozen=True, slots=True)
class OpenUnit:
    """What is known of a unit that is not complete yet.

    Attributes
    ----------
    rows : int
        Its rows with a label.
    above : int
        How many of them exceed the bound. If one row of every unit is drawn: whether the row that was drawn does.
    group : label or None
        Its group. It is known as soon as a row with a label is.
    """

    rows: int = 0
    above: int = 0
    group: Label | None = None


class WholeUnits(Counting):
    """A unit is a draw, and is counted when all its rows are known.

    A unit of n rows, k of them above γ̄, violates if its score does: if fewer than ⌈share·n⌉ rows are inside. So two
    counts are enough to hold a unit. If one row of every unit is drawn, the i-th row takes the place of the row drawn
    so far with probability 1/i, by a seed that depends on the unit alone.
    """

    def __init__(self, kind: UnitDraws, judge: Judge) -> None:
        self._kind, self._judge = kind, judge
        self._open: dict[Label, OpenUnit] = {}
        self._counted: dict[Label, None] = {}

    @property
    def open_units(self) -> tuple[Label, ...]:
        """The units that are held, in the order in which they began."""
        return tuple(self._open)

    def count(self, judged: Judged, draws: Draws | None, complete: Any) -> Counted:
        """Add some rows, and return the units that are complete."""
        declared = self._judge.draws_of(draws)
        assert isinstance(declared, Units)
        if declared.column is not None:
            raise InvalidInput(f"labels must be one label per row, got the column {declared.column!r}.")
        given = declared.labels
        labels = as_labels([given] if isinstance(given, (int, float, np.generic)) else given, self._kind.plural)
        if len(labels) != judged.n_rows:
            raise InvalidInput(
                f"y and the labels of {self._kind.plural} must have one length, got {judged.n_rows} and {len(labels)}."
            )
        if complete is None and len(self._open) > 1:
            raise InvalidInput(
                f"complete must name the {self._kind.plural} that are complete, or be [] if none is, because "
                f"{len(self._open)} {self._kind.plural} are held: {listed(self._open)}."
            )
        names, codes = factorize(labels)
        refuse_two_spellings([*self._open, *self._counted, *names], self._kind.plural)
        pieces = _pieces(names, codes, judged)
        opened, ended = dict(self._open), dict.fromkeys(self._counted)
        done: list[OpenUnit] = []

        def end(units: Iterable[Label]) -> None:
            for unit in units:
                done.append(opened.pop(unit))
                append_entry(ended, unit, MOST_UNITS)

        for unit, groups, violated in pieces:
            if unit in ended:
                raise InvalidInput(
                    f"{self._kind.noun} {unit!r} was already counted, and more rows of it came: pass the rows of one "
                    f"{self._kind.noun} after the other, or name the complete {self._kind.plural} with complete."
                )
            if complete is None:
                end([other for other in opened if other != unit])
            opened[unit] = self._extended(unit, opened.get(unit, OpenUnit()), groups, violated)
        if complete is not None:
            end(self._declared(complete, opened))
        self._open, self._counted = opened, ended
        found = self._draws(done)
        for label, n_rows in zip(judged.labels, judged.unlabelled.tolist(), strict=True):
            found[label] = found.get(label, (np.zeros(0, dtype=bool), 0))[0], n_rows
        return found

    def finish(self) -> Counted:
        """Return all units that are held."""
        done, self._open = self._open, {}
        for unit in done:
            append_entry(self._counted, unit, MOST_UNITS)
        return self._draws(done.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the units that are held, and the last that were counted."""
        held = [
            {"label": unit, "rows": known.rows, "above": known.above, "group": known.group}
            for unit, known in self._open.items()
        ]
        return {"held": {"open": held, "counted": list(self._counted)}}

    def restore(self, content: Mapping[str, Any] | None) -> None:
        """Set the units that are held, and the last that were counted."""
        if content is None or content.keys() != {"open", "counted"}:
            raise CertificateError(f"it must state which {self._kind.plural} are open and which were counted.")
        self._open = {unit["label"]: OpenUnit(unit["rows"], unit["above"], unit["group"]) for unit in content["open"]}
        self._counted = dict.fromkeys(content["counted"])
        most = 1 if self._draws_one else None
        for unit, known in self._open.items():
            if known.above > (known.rows if most is None else min(most, known.rows)) or unit in self._counted:
                raise CertificateError(f"no stream can lead to {self._kind.noun} {unit!r} as it is held.")
            if known.rows and known.group not in self._judge.parts:
                raise CertificateError(f"{self._kind.noun} {unit!r} is in a group that its certificate does not have.")

    def merged(self, parts: Sequence[Self]) -> Self:
        """Return all units that the parts hold, or raise if a unit is in several parts."""
        times = Counter(unit for part in parts for unit in (*part._open, *part._counted))
        refuse_two_spellings(times, self._kind.plural)
        shared = [unit for unit, count in times.items() if count > 1]
        if shared:
            raise InvalidInput(
                f"monitors that are merged must have watched different {self._kind.plural}; several of them have rows "
                f"of {listed(shared)}."
            )
        whole = type(self)(self._kind, self._judge)
        for part in parts:
            whole._open |= part._open
            for unit in part._counted:
                append_entry(whole._counted, unit, MOST_UNITS)
        return whole

    @property
    def _draws_one(self) -> bool:
        """Whether one row of every unit is drawn: it is a violation as often as rows are, on average over units."""
        return self._kind.within in ("one", "average")

    def _extended(
        self, unit: Label, known: OpenUnit, groups: Sequence[Label | None], violated: npt.NDArray[np.bool_]
    ) -> OpenUnit:
        """Return what is known of a unit with more rows."""
        if not len(violated):
            return known
        if len(set(groups)) > 1 or (known.rows and known.group != groups[0]):
            raise InvalidInput(
                f"every {self._kind.noun} must be in one group, for its rows are one draw: {unit!r} is not."
            )
        above = known.above + int(np.count_nonzero(violated))
        if self._draws_one:
            drawn = np.flatnonzero(self._replaces(unit, known.rows, len(violated)))
            above = int(violated[drawn[-1]]) if len(drawn) else known.above
        return OpenUnit(known.rows + len(violated), above, groups[0])

    def _replaces(self, unit: Label, n_before: int, n_rows: int) -> npt.NDArray[np.bool_]:
        """Return whether each of n rows takes the place of the row that was drawn before it."""
        name = sha256(f"{type(unit).__name__}:{unit}".encode("utf-8", "surrogatepass")).digest()
        bits = np.random.PCG64([self._kind.seed or 0, int.from_bytes(name[:16], "big")])
        bits.advance(n_before)
        return np.random.Generator(bits).random(n_rows) * np.arange(n_before + 1, n_before + n_rows + 1) < 1.0

    def _declared(self, complete: Any, opened: Mapping[Label, OpenUnit]) -> list[Label]:
        """Return the units that a user declares complete, each once, or raise if one has no rows."""
        given = complete if np.ndim(complete) or hasattr(complete, "__len__") else [complete]
        labels = as_labels([given] if isinstance(given, str) else given, "complete")
        units = list(dict.fromkeys(map(_stored, labels.tolist())))
        unknown = [unit for unit in units if unit not in opened]
        if unknown:
            raise InvalidInput(f"complete must name open {self._kind.plural}; there are no rows of {listed(unknown)}.")
        return units

    def _draws(self, done: Iterable[OpenUnit]) -> Counted:
        """Return whether each of these units is a violation, by its group. A unit without labels is not counted."""
        found: dict[Label | None, list[bool]] = {}
        for unit in done:
            if unit.rows:
                inside = unit.rows - unit.above
                violated = unit.above > 0 if self._draws_one else inside < self._kind.row_in_unit(unit.rows) + 1
                found.setdefault(unit.group, []).append(violated)
        return {group: (np.array(violated, dtype=bool), 0) for group, violated in found.items()}


def _pieces(
    names: Sequence[Label], codes: npt.NDArray[np.intp], judged: Judged
) -> list[tuple[Label, list[Label | None], npt.NDArray[np.bool_]]]:
    """Return the runs of rows of one unit, in their order: the unit, and groups and violations of its labelled rows."""
    if not len(codes):
        return []
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    rows = np.arange(judged.n_rows) if judged.rows is None else judged.rows
    edges: npt.NDArray[np.intp] = np.searchsorted(rows, np.append(starts, len(codes)))
    violated = judged.violated
    found = []
    for start, first, last in zip(starts, edges[:-1], edges[1:], strict=True):
        places = [0] if judged.codes is None else np.unique(judged.codes[first:last]).tolist()
        groups = [judged.labels[place] for place in places]
        found.append((_stored(names[codes[start]]), groups, violated[first:last]))
    return found


def _stored(unit: Label) -> Label:
    """Return the label of a unit as it is stored."""
    return shorten(unit) if isinstance(unit, str) else unit
