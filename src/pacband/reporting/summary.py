"""All numbers of a report, computed once; the page, the Markdown and the JSON are renderings of them."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from pacband import __version__
from pacband.certificate import AnyCertificate, Certificate, GroupCertificate
from pacband.certificate.portable import encode
from pacband.certificate.promise import ASSUMPTIONS
from pacband.certification.curve import Curve, curve_of_scores
from pacband.core.arrays import Floats, as_numbers
from pacband.core.labels import as_labels
from pacband.core.wording import complement, percent
from pacband.diagnostics import Diagnosis
from pacband.diagnostics.checks import ScoredRows, run_checks, scored_rows
from pacband.diagnostics.rows import joint_print
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.judging.counts import exact_interval, exceedance
from pacband.planning import max_rank
from pacband.reporting.alternatives import (
    Alternative,
    PlanMap,
    SampleSize,
    alternatives,
    plan_map,
    sample_sizes,
)
from pacband.reporting.bins import Slicing
from pacband.reporting.candidates import chosen_beforehand, single_of
from pacband.reporting.census import Census
from pacband.reporting.numbers import (
    BandNumbers,
    ScaleNumbers,
    ScoreNumbers,
    WidthNumbers,
    band_numbers,
    scale_numbers,
    score_numbers,
    slice_numbers,
    width_numbers,
)
from pacband.reporting.rows import MOST_FEATURES, SAMPLE, Features, Rows, best_columns, pick_scale, read_rows
from pacband.selection.ranked import Ranked
from pacband.tables.sample import SEED, WHOLE, draw_rows, drawn_words, first_words

__all__ = ["Caveat", "Summary", "Verdict", "summarise"]

# The p-value below which fresh rows contradict a promise.
LEVEL = 0.01
# From here on, a curve has so many levels instead of all.
LONG_CURVE, CURVE_LEVELS = 20_000, 60

BREAKERS = dict(
    zip(
        ASSUMPTIONS,
        (
            "Time series, drift, several measurements of one unit, or use on a population not sampled from break it.",
            "Tuning, feature selection or early stopping on these rows break it, and so does fitting anything to them.",
            "Trying several and keeping the nicest breaks it, unless all were counted as candidates.",
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Verdict:
    """What the rows of the report say about the promise: "recomputed", "kept", "contradicted" or "untested"."""

    state: str
    headline: str
    text: str


@dataclass(frozen=True)
class Caveat:
    """What the promise rests on, and what would break it."""

    assumption: str
    breaker: str


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The numbers of a report; None where there is nothing to say.

    `rounded_up` means that the bounds of the curve and of the alternatives were read off a summary of the scores, and
    are larger than the scores of their ranks by less than 0.01 % of the range of the scores.
    """

    title: str
    certificate: AnyCertificate
    verdict: Verdict
    caveats: tuple[Caveat, ...]
    rows: Rows | None
    diagnosis: Diagnosis | None
    plan: PlanMap | None
    sizes: tuple[SampleSize, ...]
    band: BandNumbers | None
    widths: WidthNumbers | None
    scores: ScoreNumbers | None
    slicings: tuple[Slicing, ...]
    scale: ScaleNumbers | None
    alternatives: tuple[Alternative, ...]
    curve: Curve | None
    settled_first: tuple[Floats, Floats] | None
    rounded_up: bool
    created: str
    environment: Mapping[str, str]
    command: str | None

    @property
    def single(self) -> Certificate:
        """The certificate of one bound: itself, the best candidate's, or that of the first group."""
        return single_of(self.certificate)

    @property
    def beforehand(self) -> bool:
        """Whether nothing was chosen by the scores, so that r/(N + 1) is the violation to expect."""
        return chosen_beforehand(self.certificate)

    @property
    def mean_half_width(self) -> float | None:
        """The mean half-width of the band over the rows."""
        if self.rows is None:
            return None
        finite = self.rows.half_width[np.isfinite(self.rows.half_width)]
        return float(finite.mean()) if len(finite) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON-ready values."""
        rows = self.rows
        return {
            "title": self.title,
            "created": self.created,
            "promise": self.certificate.promise,
            "certificate": self.certificate.to_dict(),
            "verdict": asdict(self.verdict),
            "caveats": [asdict(caveat) for caveat in self.caveats],
            "rows": None
            if rows is None
            else {
                "n_rows": rows.n_rows,
                "n_violations": rows.n_violations,
                "calibration": rows.calibration,
                "fingerprint_agrees": rows.exact,
                "n_drawn": rows.n_drawn,
                "seed": SEED if rows.sampled else None,
                "figures_show": rows.sample_words or None,
                "n_features": rows.n_features,
                "n_features_used": min(rows.n_features, MOST_FEATURES),
                "mean_half_width": _json(self.mean_half_width),
            },
            "diagnosis": None if self.diagnosis is None else self.diagnosis.to_dict(),
            "sample_sizes": [
                _json({**asdict(s), "expected_violation": s.expected_violation if self.beforehand else None})
                for s in self.sizes
            ],
            "band": None if self.band is None else _arrays_of(self.band, "x_name", "x", "prediction", "lower", "upper"),
            "widths": None if self.widths is None else _arrays_of(self.widths, "share", "half_width"),
            "scores": None
            if self.scores is None
            else _arrays_of(self.scores, "name", "edges", "shares", "gamma", "beyond", "n_rows"),
            "slices": [
                {"feature": s.feature, "slices": [_json({**asdict(p), "violation": p.violation}) for p in s.slices]}
                for s in self.slicings
            ],
            "scale": None if self.scale is None else _arrays_of(self.scale, "scale", "error", "ratio"),
            "alternatives": [_json(asdict(alternative)) for alternative in self.alternatives],
            "curve": None if self.curve is None else self.curve.to_dict(),
            "bounds_rounded_up": self.rounded_up,
            "environment": dict(self.environment),
            "command": self.command,
        }


def summarise(
    certificate: AnyCertificate,
    y: Any = None,
    y_pred: Any = None,
    scale: Any = None,
    *,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    groups: Any = None,
    candidates: Mapping[str, Any] | None = None,
    training: Any = None,
    title: str,
    command: str | None = None,
) -> Summary:
    """Compute what a report shows; the arguments are those of `report`."""
    rows, diagnosis, ranked = None, None, None
    if y is not None:
        rows = read_rows(
            certificate, y, y_pred, scale, X=X, feature_names=feature_names, groups=groups, candidates=candidates
        )
        y_pred, scale = best_columns(certificate, y_pred, scale, candidates)
        diagnosis = _diagnosis(single_of(certificate), rows, y, y_pred, scale, X, groups, training)
        ranked = Ranked.of(rows.scores) if has_curve(certificate, rows.census) else None
    return summarise_rows(certificate, rows, diagnosis, ranked, title=title, command=command)


def has_curve(certificate: AnyCertificate, census: Census) -> bool:
    """Whether other ε can be read off these rows: those of the calibration, under one bound."""
    return census.calibration and not isinstance(certificate, GroupCertificate)


def summarise_rows(
    certificate: AnyCertificate,
    rows: Rows | None,
    diagnosis: Diagnosis | None,
    ranked: Ranked | None,
    *,
    title: str,
    command: str | None,
) -> Summary:
    """Compute what a report shows from rows that were read and checked; `ranked` are the scores of the calibration."""
    single = single_of(certificate)
    grouped = isinstance(certificate, GroupCertificate)
    curve = None if ranked is None else _curve(single, ranked)
    ranked = None if curve is None else ranked
    return Summary(
        title=title,
        certificate=certificate,
        verdict=_verdict(certificate, rows),
        caveats=tuple(Caveat(assumption, BREAKERS.get(assumption, "")) for assumption in single.assumptions),
        rows=rows,
        diagnosis=diagnosis,
        plan=None if grouped else plan_map(single.eps, single.delta, single.n_samples, single.rank, single.share),
        sizes=() if grouped else sample_sizes(single, ranked),
        band=None if rows is None else band_numbers(rows, **_only_feature(rows)),
        widths=None if rows is None else width_numbers(rows),
        scores=None if rows is None else score_numbers(certificate, rows),
        slicings=() if rows is None else slice_numbers(rows, single.eps, level=LEVEL),
        scale=None if rows is None else scale_numbers(rows),
        alternatives=() if ranked is None else alternatives(single, ranked),
        curve=curve,
        settled_first=None if curve is None or ranked is None else _settled_first(single, curve, ranked),
        rounded_up=ranked is not None and ranked.above is not None,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        environment={
            "pacband": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        },
        command=command,
    )


def _verdict(certificate: AnyCertificate, rows: Rows | None) -> Verdict:
    if rows is None:
        return Verdict(
            "untested", "Not recomputed", "No rows were given with this report; it shows the certificate alone."
        )
    share = rows.n_violations / rows.n_rows
    low, high = exact_interval(rows.n_violations, rows.n_rows)
    counted = f"{rows.n_violations:,} of {rows.n_rows:,} rows ({percent(share)}) lie beyond the bound"
    if rows.calibration:
        agreement = (
            "bound and fingerprint agree."
            if rows.exact
            else "the bound agrees to nine digits. (The fingerprint does not: predictions that are computed again may "
            "be rounded otherwise.)"
        )
        return Verdict(
            "recomputed",
            "Recomputed and confirmed",
            f"The bound was computed again from the calibration rows; {agreement} {counted}, by construction: fresh "
            "rows are needed to test the promise itself.",
        )
    certified, parts = certificate.eps, rows.census.parts
    # Each group has a promise of its own; the union bound over them.
    p_value = min(1.0, len(parts) * min(exceedance(k, n, certified) for n, k in parts))
    interval = f"the exact 95 % interval for the true share is {percent(low)} to {percent(high)}"
    if p_value <= LEVEL:
        return Verdict(
            "contradicted",
            "These rows contradict the promise",
            f"{counted}; {interval}, and {percent(certified)} was promised. A promise that holds shows as many with "
            f"probability {p_value:.2g} at most. Either an assumption below is broken, or the future has changed.",
        )
    return Verdict(
        "kept",
        "These rows agree with the promise",
        f"{counted}; {interval}. At least {complement(certified)} within the bound was promised. By their "
        "scores, these are not the rows of the calibration.",
    )


def _diagnosis(
    single: Certificate, rows: Rows, y: Any, y_pred: Any, scale: Any, X: Any, groups: Any, training: Any
) -> Diagnosis:
    """Look at the rows as they came; where there are very many, at the first of them and at the drawn ones."""
    if training is not None and X is None:
        raise InvalidInput("training rows were given, but not X: rows are compared in inputs and target.")
    if isinstance(X, Features):
        X = joint_print(X.columns.values())
    n_rows = rows.n_rows

    def first(column: Any) -> Any:
        return column if n_rows <= SAMPLE or column is None else column[:SAMPLE]

    near = scored_rows(
        single.basis.scoring,
        rows.scores[:SAMPLE],
        first(as_numbers("y", y)),
        first(as_numbers("y_pred", y_pred)),
        pick_scale(scale, slice(SAMPLE)),
        X=first(X),
        groups=None if groups is None else first(as_labels(groups)),
        words=first_words(SAMPLE) if n_rows > SAMPLE else "",
    )
    if n_rows <= WHOLE:
        return check_rows(single, near, None, n_rows, training)
    drawn = draw_rows(n_rows)
    spread = scored_rows(
        single.basis.scoring,
        rows.score,
        as_numbers("y", y)[drawn],
        as_numbers("y_pred", y_pred)[drawn],
        pick_scale(scale, drawn),
        groups=None if groups is None else as_labels(groups)[drawn],
        numbers=drawn,
        words=drawn_words(len(drawn)),
    )
    return check_rows(single, spread, near, n_rows, training)


def check_rows(
    single: Certificate,
    rows: ScoredRows,
    neighbours: ScoredRows | None,
    n_rows: int,
    training: Any = None,
    copies: ScoredRows | None = None,
) -> Diagnosis:
    """Make the checks of a report."""
    return run_checks(
        rows,
        neighbours=neighbours,
        copies=copies,
        n_rows=n_rows,
        level=LEVEL,
        eps=single.eps,
        delta=single.delta,
        training=training,
    )


def _curve(single: Certificate, scores: Floats | Ranked) -> Curve | None:
    """The curve of this candidate, at its share of δ.

    The candidate may have been chosen by the scores: what holds with confidence 1 − δ is that the curves of all of
    them hold.
    """
    grid = None
    if len(scores) > LONG_CURVE:
        grid = np.unique([*np.geomspace(max(1e-5, 40.0 / len(scores)), 0.5, CURVE_LEVELS), single.eps])
    try:
        return curve_of_scores(
            scores,
            delta=single.delta,
            share=single.share,
            eps=None if grid is None else tuple(grid.tolist()),
            scoring=single.basis.scoring,
            n_outputs=single.n_outputs,
            scale_kind=single.scale_kind,
        )
    except NotEnoughSamples:
        return None


def _settled_first(single: Certificate, curve: Curve, ranked: Ranked) -> tuple[Floats, Floats]:
    """γ̄ at every ε, each had it alone been asked for."""
    levels, gammas, delta = [], [], single.share.own_delta(single.delta)
    for eps in np.geomspace(max(1e-9, 0.5 * curve.smallest_eps), 0.5, 60).tolist():
        try:
            rank = max_rank(curve.n_samples, eps, delta)
        except NotEnoughSamples:
            continue
        levels.append(eps)
        gammas.append(ranked.largest(rank))
    return np.array(levels), np.array(gammas)


def _only_feature(rows: Rows) -> dict[str, Any]:
    """The one numeric feature, against which a band is drawn as in the paper."""
    numeric = {name: column for name, column in rows.features.items() if name != "group"}
    if len(numeric) != 1:
        return {}
    ((name, column),) = numeric.items()
    return {"x": column, "x_name": name} if column.dtype.kind in "fiu" else {}


def _arrays_of(numbers: Any, *names: str) -> dict[str, Any]:
    return {name: _json(getattr(numbers, name)) for name in names}


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [_json(item) for item in value.tolist()]
    return encode(value)
