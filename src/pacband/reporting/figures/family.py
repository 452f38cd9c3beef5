"""The candidates of a family, the sharpest on top. The page lists them in a table instead."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pacband.certificate import FamilyCertificate
from pacband.certificate.family import sharpness_name
from pacband.core import look
from pacband.core.wording import bound
from pacband.exceptions import InvalidInput
from pacband.reporting.candidates import rank_candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FamilyNumbers", "draw_family", "family_numbers", "plot_family"]

MOST_BARS = 20


@dataclass(frozen=True)
class FamilyNumbers:
    """The sharpness of the sharpest candidates in increasing order, the best one, and how many are not shown.

    `name` is what the sharpness measures: a width, or for one-sided bounds a distance.
    """

    sharpness: dict[str, float]
    best: str
    name: str
    one_sided: bool
    n_more: int


def family_numbers(family: FamilyCertificate) -> FamilyNumbers:
    """Return the sharpness of at most `MOST_BARS` candidates."""
    shown = {name: family.sharpness[name] for name in rank_candidates(family, MOST_BARS)}
    return FamilyNumbers(
        sharpness=shown,
        best=family.best,
        name=family.about.in_unit(sharpness_name(family.certificate.side)),
        one_sided=family.certificate.side != "both",
        n_more=len(family.candidates) - len(shown),
    )


def draw_family(numbers: FamilyNumbers, ax: Axes | None = None) -> Axes:
    """Draw a bar for every candidate; the bar of an infinite sharpness is as long as the longest."""
    names = list(reversed(numbers.sharpness))
    ax = look.axes_of(ax, 1.1 + 0.27 * len(names))
    longest = max((size for size in numbers.sharpness.values() if math.isfinite(size)), default=1.0)
    for place, name in enumerate(names):
        value, mine = numbers.sharpness[name], name == numbers.best
        length = value if math.isfinite(value) else longest
        ax.barh(place, length, 0.7, color=look.BAND if mine else look.POINT, alpha=1.0 if mine else 0.55)
        ax.annotate(
            bound(value),
            (length, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=look.SMALL,
            color=look.INK if mine else look.MUTED,
            fontweight="bold" if mine else "normal",
        )
    ax.set_yticks(range(len(names)), [look.short_text(name) for name in names])
    ax.margins(x=0.15)
    others = (
        f" ({numbers.n_more} {'larger' if numbers.one_sided else 'wider'} ones not shown)" if numbers.n_more else ""
    )
    look.style_axes(
        ax, title="Candidates, the sharpest on top", x=f"{look.short_text(numbers.name, 70)}{others}", grid="x"
    )
    return ax


def plot_family(certificate: FamilyCertificate, *, ax: Axes | None = None) -> Axes:
    """Draw what the best candidate of a family minimises, for every candidate: `FamilyCertificate.sharpness`.

    It is the mean half-width of the band; for one-sided certificates, the mean distance from y to the bound.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> y = np.random.default_rng(0).standard_normal(500)
    >>> family = pacband.certify_family(y, {"zero": np.zeros(500), "half": y / 2}, delta=0.01)
    >>> ax = pacband.plot_family(family)
    """
    if not isinstance(certificate, FamilyCertificate):
        raise InvalidInput(f"certificate must be a FamilyCertificate, got {type(certificate).__name__}.")
    return draw_family(family_numbers(certificate), ax)
