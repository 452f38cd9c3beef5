"""`certify_frame`: the certificate of columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw

from pacband.certificate import About, AnyCertificate
from pacband.core.progress import Progress
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.planning.shares import weighted_shares
from pacband.scores.columns import Columns
from pacband.tables.certified_columns import Asked, make_terms, named_columns, score_column
from pacband.tables.columns import as_frame, check_columns, in_memory
from pacband.tables.lazy_certifying import certify_lazy
from pacband.tables.memory_certifying import certify_in_memory
from pacband.tables.other_columns import other_columns

__all__ = ["certify_frame"]


def certify_frame(
    frame: Any,
    *,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | list[str] | None = None,
    run: str | None = None,
    step: str | None = None,
    candidates: Mapping[str, Any] | None = None,
    score: str | None = None,
    tolerance: float | None = None,
    eps: float | None = None,
    delta: float = 1e-6,
    weights: Mapping[str, float] | Iterable[float] | None = None,
    rank: int | None = None,
    rule: str = "exact",
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    clip: tuple[float | None, float | None] | None = None,
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> AnyCertificate:
    """Certify columns of a table: one predictor, one within every group, or a family of candidates.

    Parameters
    ----------
    frame : table
        Of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask or PySpark. A large table in an engine stays there:
        counts and a sample of its rows come back. One of at most 131,072 rows is read whole.
    target : str or list of str
        The column of y; with several outputs, their columns.
    prediction : str or list of str
        The column of T(x), or of each output.
    scale : str, pair of str, optional
        The column of σ̂(x) > 0; a tuple of two columns (lower, upper) makes an asymmetric band.
    group : str or list of str, optional
        The column of groups: the promise then holds within each group (`certify_groups`). With several columns, every
        label of every column is a group. These groups overlap, and a row has the largest of its bounds.
    run, step : str, optional
        The columns of runs and of steps, if a row is one step of a run (long format): the promise is then about whole
        runs. Rows may be in any order. Every run must have the same steps, each of them once. The columns are read into
        memory. Windows that slide over one run are not independent runs.
    candidates : mapping of str to prediction or (prediction, scale), optional
        In place of `prediction`: the columns of every candidate (`certify_family`).
    score : str, optional
        In place of all of these: the column of scores that you compute yourself (`certify_scores`).
    tolerance : float, optional
        A given bound: ε is then found (`certify_tolerance`), and eps, rank and rule must be left out. It is counted in
        one pass, for one prediction or one score.
    progress : function of (done, total), optional
        Called after every pass over the table.
    eps : float in (0, 1), optional
        As in `certify`; by default 0.05.
    delta, weights, rank, rule, side, n_candidates, min_scale, nonfinite, gauge, clip, about
        As in `certify`, `certify_family` and `certify_groups`. A matrix gauge needs a table in memory.
    draws : Units, Spaced or Weighted, optional
        What one draw is, if it is not a row; labels and weights may be names of columns: ``Units("machine")``. Units
        are aggregated in the engine, and one score a unit comes back; a share of their rows needs DuckDB or polars.
        For ``Units("machine", "one")`` and ``"average"``, `Spaced` and `Weighted`, the columns are read into memory,
        also from DuckDB and polars; other engines are refused.

    Returns
    -------
    Certificate, FamilyCertificate or GroupCertificate
        What `certify`, `certify_family` or `certify_groups` give for the same numbers, to the last bit.

    Examples
    --------
    >>> import pandas as pd
    >>> import pacband
    >>> table = pd.DataFrame({"y": range(1000), "guess": [value + (-1) ** value for value in range(1000)]})
    >>> pacband.certify_frame(table, target="y", prediction="guess", eps=0.1, delta=0.01).gamma
    1.0
    """
    promised: dict[str, Any] = {
        "eps": eps, "delta": delta, "rank": rank, "rule": rule, "n_candidates": n_candidates, "nonfinite": nonfinite,
        "draws": draws, "about": about,
    }  # fmt: skip
    scored: dict[str, Any] = {"side": side, "min_scale": min_scale, "gauge": gauge, "clip": clip}
    terms = make_terms(promised, scored, tolerance, own=score is not None)
    if score is None:
        named = named_columns(target, prediction, scale, group, candidates, run=run, step=step)
    else:
        named = score_column(score, group, target, prediction, scale, candidates, run, step)
    _refuse_combinations(
        named, tolerance=tolerance, group=group, candidates=candidates, rank=rank, n_candidates=n_candidates,
        weights=weights,
    )  # fmt: skip
    asked = Asked(terms, named, weighted_shares(weights, list(named)) if candidates is not None else None)

    table = as_frame(frame)
    schema = check_columns(table, asked.numeric, *asked.first.others, *terms.draws.columns)
    others = other_columns(table, asked.columns)
    if isinstance(table, nw.DataFrame):
        return certify_in_memory(asked, in_memory(table, asked.columns), others)
    return certify_lazy(asked, table, schema, others, progress)


def _refuse_combinations(
    named: Mapping[str, Columns],
    *,
    tolerance: float | None,
    group: str | list[str] | None,
    candidates: Mapping[str, Any] | None,
    rank: int | None,
    n_candidates: int,
    weights: Mapping[str, float] | Iterable[float] | None,
) -> None:
    """Raise if options were given that cannot be combined."""
    if tolerance is not None and (group is not None or candidates is not None):
        raise InvalidInput(
            "a tolerance cannot be combined with group or candidates: each would have a share of its own. Certify each "
            "of them in a table of its own, with n_candidates set to their number."
        )
    if group is not None and (candidates is not None or rank is not None):
        raise InvalidInput("group cannot be combined with candidates or rank: every group gets its own rank.")
    if candidates is not None and n_candidates != 1:
        raise InvalidInput(f"with candidates, n_candidates is their number, {len(named)}: leave it out.")
    if candidates is None and weights is not None:
        raise InvalidInput(
            f"weights share δ among candidates: pass candidates with them, got weights={weights!r} alone."
        )
