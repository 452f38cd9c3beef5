"""The figures of the page: each with a description to be read aloud, a caption, and values to point at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.core.look import axes_of, figure_of, house_style
from pacband.core.wording import figure, percent, round_up
from pacband.reporting import drawing
from pacband.reporting.figures import draw_slicing
from pacband.reporting.summary import Summary
from pacband.reporting.svg import inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "Picture", "pictures_of"]

PICTURES = ("plan", "violation", "band", "widths", "scores", "scale", "curve", "slices")


@dataclass(frozen=True)
class Picture:
    """A figure on the page: its SVG, the caption under it, and what the pointer shows, as JSON."""

    svg: str
    caption: str
    hover: str


@house_style()
def pictures_of(summary: Summary) -> dict[str, Picture | list[Picture] | None]:
    """Draw whatever the numbers allow; None where there is nothing to draw."""
    return {
        **dict.fromkeys(PICTURES),
        **dict(_of_certificate(summary)),
        **dict(_of_rows(summary)),
        "slices": [_of_slicing(summary, k) for k in range(len(summary.slicings))],
    }


def _of_certificate(summary: Summary) -> Iterator[tuple[str, Picture]]:
    if summary.plan is None:
        return
    single = summary.single
    at = percent(single.expected_violation)
    expected = "violation to expect" if summary.beforehand else "r/(N + 1)"
    ax = axes_of(None)
    drawing.draw_plan(ax, summary.plan)
    yield (
        "plan",
        _picture(
            ax,
            "plan",
            "What the samples bought",
            f"{'The violation to expect, r' if summary.beforehand else 'R'}ank over N plus one, rises with the number "
            f"of samples towards ε = {figure(single.eps)}. This certificate, with N = {single.n_samples:,} and rank "
            f"{single.rank:,}, stands at {at}.",
            "The closer to ε, the sharper the bound: the errors that may exceed it are made use of.",
            (
                (n, v, f"δ = {delta:g}: {int(n):,} samples, {expected} {percent(v)}")
                for delta, sizes, violation in summary.plan.lines
                for n, v in zip(sizes.tolist(), violation.tolist(), strict=True)
            ),
        ),
    )
    if not summary.beforehand:
        return
    ax = axes_of(None)
    drawing.draw_violation(ax, single)
    low, high = single.violation_interval(0.95)
    yield (
        "violation",
        _picture(
            ax,
            "violation",
            "Where the true violation lies",
            f"The Beta({single.rank}, {single.n_samples - single.rank + 1}) density of the true violation: mean "
            f"{at}, central 95 % from {percent(low)} to {percent(high)}, and ε = {figure(single.eps)} in its far "
            "tail.",
            "Over calibration draws, the true share beyond the bound follows Beta(r, N − r + 1): between "
            f"{percent(low)} and {percent(high)} in 95 of 100 draws.",
        ),
    )


def _of_rows(summary: Summary) -> Iterator[tuple[str, Picture]]:
    single, sample = summary.single, _sample_words(summary)
    n_rows = 0 if summary.rows is None else summary.rows.n_rows
    if summary.band is not None:
        band = summary.band
        ax = axes_of(None)
        drawing.draw_band(ax, band)
        output = " Of several outputs, the first is drawn." if single.n_outputs > 1 else ""
        width = "" if summary.mean_half_width is None else f"; mean half-width {summary.mean_half_width:.4g}"
        yield (
            "band",
            _picture(
                ax,
                "band",
                "The band over data",
                f"Rows, prediction and certified band against {band.x_name}{width}.",
                f"Prediction and band are means of neighbouring rows.{output}{sample}",
                (
                    (x, t, f"{band.x_name} {x:.4g}: prediction {t:.4g}{_ends(band, k)}")
                    for k, (x, t) in enumerate(zip(band.x.tolist(), band.prediction.tolist(), strict=True))
                ),
            ),
        )
    if summary.widths is not None:
        ax = axes_of(None)
        drawing.draw_widths(ax, summary.widths)
        share, widths = summary.widths.share[::4].tolist(), summary.widths.half_width[::4].tolist()
        yield (
            "widths",
            _picture(
                ax,
                "widths",
                "From the narrowest band to the widest",
                f"Half-widths in their order, from {widths[0]:.4g} to {widths[-1]:.4g}, over the sizes of the errors.",
                f"A good σ̂ keeps the errors under the line, and as close to it, all along.{sample}",
                ((s, w, f"{percent(s)} of rows: half-width up to {w:.4g}") for s, w in zip(share, widths, strict=True)),
            ),
        )
    if summary.scores is not None:
        scores = summary.scores
        ax = axes_of(None)
        drawing.draw_scores(ax, scores)
        beyond = f" {scores.beyond:,} scores lie outside the picture." if scores.beyond else ""
        every, which = (" drawn", sample) if scores.n_rows < n_rows else ("", "")
        bars = zip(scores.edges[:-1].tolist(), scores.edges[1:].tolist(), scores.shares.tolist(), strict=True)
        yield (
            "scores",
            _picture(
                ax,
                "scores",
                "Scores, and the bound on them",
                f"Histogram of {scores.n_rows:,} scores with the bound at {scores.gamma:.4g}.",
                f"One score for every row{every}; those to the right of the line exceed the bound.{beyond}{which}",
                (((a + b) / 2, s, f"{a:.3g} to {b:.3g}: {percent(s)} of rows") for a, b, s in bars),
            ),
        )
    if summary.scale is not None:
        scale = summary.scale
        ax = axes_of(None)
        drawing.draw_scale(ax, scale)
        yield (
            "scale",
            _picture(
                ax,
                "scale",
                "Does σ̂ follow the error?",
                "Mean error size against mean σ̂ in ten bins; the ratio departs from its mean by a factor of at most "
                f"{scale.unevenness:.3g}.",
                f"Points on the line mean that σ̂ is right up to a factor, which the bound makes up for.{sample}",
                (
                    (s, e, f"σ̂ = {s:.4g}: mean |error| {e:.4g}")
                    for s, e in zip(scale.scale.tolist(), scale.error.tolist(), strict=True)
                ),
            ),
        )
    if summary.curve is not None:
        curve = summary.curve
        ax = axes_of(None)
        drawing.draw_curve(ax, curve, single, summary.settled_first)
        thin = slice(None, None, max(1, len(curve.levels) // 80))
        yield (
            "curve",
            _picture(
                ax,
                "curve",
                "Choose ε afterwards",
                f"The bound against ε for every ε at once, from {round_up(curve.smallest_eps, 3):g} on, with the "
                f"certified point at ε = {figure(single.eps)}.",
                "The solid line holds at every ε together: you may pick any point of it after looking.",
                (
                    (e, g, f"ε = {round_up(e, 3):g}: bound {g:.4g}")
                    for e, g in zip(curve.levels[thin], curve.gammas[thin], strict=True)
                    if np.isfinite(g)
                ),
            ),
        )


def _of_slicing(summary: Summary, k: int) -> Picture:
    slicing = summary.slicings[k]
    weak = [part.label for part in slicing.slices if part.weak]
    listed = ", ".join(weak) if len(weak) <= 3 else f"{len(weak)} of {len(slicing.slices)} slices"
    told = f"Beyond ε by more than chance: {listed}." if weak else "No slice is beyond ε by more than chance."
    return _picture(
        draw_slicing(slicing, summary.single.eps),
        f"slice{k}",
        f"Width and rows outside by {slicing.feature}",
        f"Half-width and share of rows outside the band in {len(slicing.slices)} slices of {slicing.feature}. {told}",
        f"{told}{_sample_words(summary)}",
        (
            (
                place,
                part.violation,
                f"{part.label}: {part.n_violations:,} of {part.n_rows:,} rows outside, {percent(part.violation)} "
                f"({percent(part.low)} to {percent(part.high)}); half-width {part.half_width:.4g}",
            )
            for place, part in enumerate(slicing.slices)
        ),
    )


def _sample_words(summary: Summary) -> str:
    """Return the sentence that names a sample, after a space; empty where all rows are shown."""
    if summary.rows is None or not summary.rows.sampled:
        return ""
    return f" The figure shows {summary.rows.sample_words}."


def _ends(band: Any, k: int) -> str:
    ends = [f"{end[k]:.4g}" for end in (band.lower, band.upper) if end is not None]
    if len(ends) == 2:
        return f", band {ends[0]} to {ends[1]}"
    return f", bound {ends[0]}" if ends else ""


def _picture(
    ax: Axes, name: str, title: str, description: str, caption: str, points: Iterable[tuple[float, float, str]] = ()
) -> Picture:
    svg = inline_svg(figure_of(ax), name=f"figure-{name}", title=title, description=description)
    return Picture(svg, caption, _hover(ax, list(points)))


def _hover(ax: Axes, points: list[tuple[float, float, str]]) -> str:
    """Return values with their places as fractions of the figure, from the upper left. Its layout must be settled."""
    if not points:
        return ""
    places = (ax.transData + ax.figure.transFigure.inverted()).transform([point[:2] for point in points])
    kept = [
        [round(float(x), 3), round(1.0 - float(y), 3), text]
        for (x, y), (_, _, text) in zip(places, points, strict=True)
        if 0.0 <= x <= 1.0 and 0.0 <= y <= 1.0
    ]
    return json.dumps(kept, ensure_ascii=False)
