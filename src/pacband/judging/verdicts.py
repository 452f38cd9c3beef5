"""Counts of violations on fresh rows, and the verdict that follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import count as count_up
from typing import Any

from pacband.core.frozen import FrozenMap
from pacband.core.wording import card, figure, p_text, percent
from pacband.judging.counts import exact_interval, exceedance, mean_interval
from pacband.planning.averages import Evidence
from pacband.scores.clip import left_range_words

__all__ = ["Count", "Verdict"]


@dataclass(frozen=True, slots=True)
class Count:
    """How many of some fresh draws exceed the bound.

    Attributes
    ----------
    n_samples, violations : int
        The draws n, and those k of them whose score exceeds the bound.
    eps : float
        The share of draws that may exceed the bound.
    p_value : float
        P{Bin(n, ε) ≥ k}: the largest probability of so many violations if the promise holds. What the draws differ from
        independent ones is added.
    interval : pair of float
        An interval of the true share, at 95 %: of Clopper and Pearson; for units on average, of Chernoff and Hoeffding.
    counted : str
        What n counts: "rows", or the units that the promise is about.
    mean : float or None
        For units on average: the mean share of their rows beyond the bound. `violations` then counts these rows, and
        the p-value is that of `pacband.planning.averages`.
    dependence : float
        How far the draws differ from independent ones: what is added to the p-value.
    """

    n_samples: int
    violations: int
    eps: float
    p_value: float
    interval: tuple[float, float]
    counted: str = "rows"
    mean: float | None = None
    dependence: float = 0.0

    @classmethod
    def of(
        cls, n_samples: int, violations: int, eps: float, *, counted: str = "rows", dependence: float = 0.0
    ) -> Count:
        """Return the count with its p-value and interval. `dependence` is the distance from independent draws.

        Examples
        --------
        >>> count = Count.of(100, 12, 0.05)
        >>> round(count.p_value, 6), [round(end, 4) for end in count.interval]
        (0.004274, [0.0636, 0.2002])
        """
        p_value = min(1.0, exceedance(violations, n_samples, eps) + dependence)
        # The interval for independent draws fails with a probability of 5 %, less what the dependence adds.
        level = 0.95 + dependence
        interval = exact_interval(violations, n_samples, level) if level < 1.0 else (0.0, 1.0)
        return cls(n_samples, violations, eps, p_value, interval, counted, dependence=dependence)

    @classmethod
    def of_average(cls, evidence: Evidence, eps: float, counted: str) -> Count:
        """Return the count of units on average."""
        beyond = sum(k * times for k, _, times in evidence.counts)
        p_value, interval = evidence.p_value(eps, above=True), mean_interval(evidence.mean, evidence.n_units)
        return cls(evidence.n_units, beyond, eps, p_value, interval, counted, evidence.mean)

    @property
    def rate(self) -> float:
        """The observed share of violations."""
        return self.violations / self.n_samples if self.mean is None else self.mean

    @property
    def least_p_value(self) -> float:
        """The p-value if all draws violate, which no outcome is below: εⁿ for independent rows."""
        if self.mean is None:
            return min(1.0, exceedance(self.n_samples, self.n_samples, self.eps) + self.dependence)
        return Evidence(((1, 1, self.n_samples),)).p_value(self.eps, above=True)

    def draws_needed(self, level: float) -> int:
        """Return how many independent draws have an outcome that contradicts the promise at this level."""
        # Of units on average, at least as many as of rows: a single mean shows less than all of its rows.
        first = max(1, math.ceil(math.log(level) / math.log(self.eps)) - 1)
        return next(n for n in count_up(first) if replace(self, n_samples=n, dependence=0.0).least_p_value <= level)

    def __str__(self) -> str:
        low, high = self.interval
        if self.mean is not None:
            return (
                f"on average over {self.n_samples} {self.counted}, {percent(self.mean)} of the rows exceed the bound; "
                f"at most {percent(self.eps)} are allowed (95 % interval of the true mean: {percent(low)} to "
                f"{percent(high)}, {p_text(self.p_value)})"
            )
        return (
            f"{self.violations} of {self.n_samples} {self.counted} ({percent(self.rate)}) exceed the bound; at most "
            f"{percent(self.eps)} are allowed (95 % interval of the true share: {percent(low)} to {percent(high)}, "
            f"{p_text(self.p_value)})"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether fresh data contradict a certificate; made by `check`.

    Attributes
    ----------
    level : float
        The largest probability of contradicting a promise that holds.
    counts : mapping of label to Count
        What is judged: one count for every promise. A group certificate makes one promise for each group; any other
        certificate makes one promise about all rows. Its count has the empty name.
    reused : bool
        Whether these rows cannot test the promise: the certificate was made from them, or the model was fitted on some
        of them.
    groups : mapping of label to Count
        The groups of rows that were given with a promise about all rows, or none. They are listed and not judged:
        nothing is promised about them.
    training_rows : int
        How many of the rows the model was fitted on, where a model was checked.
    training_units : int
        How many of the units the model was fitted on, where a model was checked and the promise is about units.
    out_of_range : int
        In how many rows y left the range that `clip` declares. They are violations: a clipped band cannot hold them.
    """

    level: float
    counts: FrozenMap[Any, Count]
    reused: bool = False
    groups: FrozenMap[Any, Count] = FrozenMap({})  # noqa: RUF009 (it cannot be changed)
    training_rows: int = 0
    training_units: int = 0
    out_of_range: int = 0

    @property
    def contradicted(self) -> tuple[Any, ...]:
        """The promises that the data contradict: the labels of the groups, or the empty name."""
        return _beyond(self.counts, self.level)

    @property
    def weak(self) -> tuple[Any, ...]:
        """The listed groups in which more than a share ε of the errors exceed the bound, at the same level."""
        return _beyond(self.groups, self.level)

    @property
    def holds(self) -> bool | None:
        """False if the data contradict the promise, True if they do not, None if they cannot test it; see `tested`."""
        return False if self.contradicted else True if self.tested else None

    @property
    def too_few(self) -> tuple[Any, ...]:
        """The promises about which there are so few draws that no outcome contradicts them at this level."""
        return tuple(label for label, count in self.counts.items() if count.least_p_value > self._level_of_each)

    @property
    def tested(self) -> bool:
        """Whether these rows can test the promise: they are not `reused`, nor too few for each of the promises."""
        return not self.reused and len(self.too_few) < len(self.counts)

    @property
    def untested_groups(self) -> str:
        """A sentence about the groups with `too_few` draws, where others are tested; else empty."""
        if not self.tested or not self.too_few:
            return ""
        return f"Too few draws to test it in {len(self.too_few)} of {len(self.counts)} groups."

    @property
    def _level_of_each(self) -> float:
        return self.level / len(self.counts)

    def __str__(self) -> str:
        contradicted = self.contradicted
        single = list(self.counts) == [""]
        word = "The data contradict the promise" if contradicted else "The data do not contradict the promise"
        where = f" in {len(contradicted)} of {len(self.counts)} groups" if contradicted and not single else ""
        # Whoever reads one line of rows that cannot test the promise must not read that they agree with it.
        lines = [f"{word}{where} (level {figure(self.level)})." if contradicted or self.tested else self.why_untested]
        lines += [str(self.counts[""])] if single else _listed(self.counts, contradicted)
        if self.out_of_range:
            lines.append(left_range_words(self.out_of_range))
        if untested := self.why_untested if contradicted else self.untested_groups:
            lines.append(untested)
        if self.groups:
            lines.append("The promise is about all rows together. By group, with ! where the bound is weak:")
            lines += _listed(self.groups, self.weak)
        return "\n".join(lines)

    @property
    def why_untested(self) -> str:
        """A sentence that states why these rows cannot test the promise; empty if they can."""
        every = list(self.counts.values())
        n_draws, counted = sum(count.n_samples for count in every), every[0].counted if every else "rows"
        if self.training_units:
            return (
                f"The model was fitted on {self.training_units} of these {n_draws} {counted}: only new {counted} can "
                "test it."
            )
        if self.training_rows and self.reused:
            rows = f"{n_draws} rows" if counted == "rows" else "rows"
            return f"The model was fitted on {self.training_rows} of these {rows}: only fresh rows can test it."
        if self.reused:
            return "These are the rows that the certificate was made from: only fresh rows can test it."
        if not self.tested and min(count.dependence for count in every) > self._level_of_each:
            return (
                f"These {counted} cannot test the promise: their declared dependence alone exceeds the level "
                f"{figure(self.level)}. Fewer of them have less of it, or choose a larger level."
            )
        if not self.tested:
            least = every[0].draws_needed(self._level_of_each)
            where = "" if list(self.counts) == [""] else " of each group"
            return (
                "These are too few to test the promise: even if all of them exceed the bound, that does not contradict "
                f"it at level {figure(self.level)}. At least {least} {counted}{where} are needed."
            )
        return ""

    def _repr_html_(self) -> str:
        rows = [(str(label), str(count)) for counts in (self.counts, self.groups) for label, count in counts.items()]
        return card("pacband check", str(self).split("\n")[0], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready values."""
        return {
            "holds": self.holds,
            "tested": self.tested,
            "too_few": list(self.too_few),
            "reused": self.reused,
            "training_rows": self.training_rows,
            "training_units": self.training_units,
            "out_of_range": self.out_of_range,
            "level": self.level,
            "counts": _entries(self.counts, "contradicted", self.contradicted),
            "groups": _entries(self.groups, "weak", self.weak),
        }


def _beyond(counts: Mapping[Any, Count], level: float) -> tuple[Any, ...]:
    """Return the labels whose count is too large for ε at this level over all of them together."""
    return tuple(label for label, count in counts.items() if count.p_value <= level / len(counts))


def _listed(counts: Mapping[Any, Count], marked: tuple[Any, ...]) -> list[str]:
    width, marks = max(len(str(label)) for label in counts), set(marked)
    return [f"{'!' if label in marks else ' '} {label!s:<{width}}  {count}" for label, count in counts.items()]


def _entries(counts: Mapping[Any, Count], mark: str, marked: tuple[Any, ...]) -> list[dict[str, Any]]:
    marks = set(marked)
    return [{"label": label, mark: label in marks, **_content(count)} for label, count in counts.items()]


def _content(count: Count) -> dict[str, Any]:
    """Return a count as JSON-ready values; the mean and the dependence only where there is one."""
    content = {name: value for name, value in asdict(count).items() if value is not None} | {"rate": count.rate}
    return content if count.dependence else {name: value for name, value in content.items() if name != "dependence"}
