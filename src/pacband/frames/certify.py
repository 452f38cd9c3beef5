"""`certify_frame`: the certificate of columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import narwhals as nw
import numpy as np

from pacband._frozen import FrozenMap
from pacband._terms import Terms, delta_shares
from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.columns import Columns
from pacband.certificate.family import check_candidates, split_candidate
from pacband.certification import certify, certify_family, certify_groups
from pacband.exceptions import InvalidInput
from pacband.frames.columns import as_frame, check_columns, columns_of, read_predicted, read_values
from pacband.frames.engines import fetch_columns
from pacband.frames.scan import FamilyScan, GroupScan
from pacband.frames.table import Table
from pacband.planning import plan
from pacband.selection import Measured, Request, Search, Tally, select

__all__ = ["certify_frame"]

# A table of no more rows is brought here; of a larger one these are the sample that the search starts from.
SAMPLE = 1 << 17

Progress = Callable[[int, int], None]


def certify_frame(
    frame: Any,
    *,
    target: str | list[str],
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | None = None,
    candidates: Mapping[str, Any] | None = None,
    eps: float = 0.05,
    delta: float = 1e-6,
    weights: Mapping[str, float] | Iterable[float] | None = None,
    rank: int | None = None,
    rule: str = "exact",
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    progress: Progress | None = None,
) -> Certificate | FamilyCertificate | GroupCertificate:
    """Certify columns of a table: one predictor, one within every group, or a family of candidates.

    Parameters
    ----------
    frame : table
        Of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask or PySpark. Tables in an engine stay there: only counts
        and a few rows come back.
    target : str or list of str
        The column of y; with several outputs, their columns.
    prediction : str or list of str
        The column of T(x), or of each output.
    scale : str, pair of str, optional
        The column of σ̂(x) > 0; a tuple of two columns (lower, upper) makes an asymmetric band.
    group : str, optional
        The column of groups: the promise is then kept within each (`certify_groups`).
    candidates : mapping of str to prediction or (prediction, scale), optional
        In place of `prediction`: the columns of every candidate (`certify_family`).
    progress : function of (done, total), optional
        Called after every pass over the table.
    eps, delta, weights, rank, rule, side, n_candidates, min_scale, nonfinite, gauge
        As in `certify`, `certify_family` and `certify_groups`. A matrix gauge needs a table in memory.

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
    options = {
        "eps": eps,
        "delta": delta,
        "rank": rank,
        "rule": rule,
        "side": side,
        "min_scale": min_scale,
        "nonfinite": nonfinite,
        "gauge": gauge,
    }
    terms = Terms.create(**options)
    plan(eps, delta, rank=rank, rule=rule)
    named = _named(target, prediction, scale, group, candidates)
    if group is not None and (candidates is not None or rank is not None):
        raise InvalidInput("group goes with one prediction, and settles a rank for each group: no candidates, no rank.")
    if candidates is not None and n_candidates != 1:
        raise InvalidInput(f"with candidates, n_candidates is their number, {len(named)}, and not to be given.")
    shares = delta_shares(weights, list(named))

    table = as_frame(frame)
    schema = check_columns(table, [name for columns in named.values() for name in columns.numeric], group)
    wanted = list(dict.fromkeys(name for columns in named.values() for name in columns.all))
    if isinstance(table, nw.DataFrame):
        values = {name: table.get_column(name).to_native() for name in wanted}
        return _near(values, named, candidates is not None, weights, n_candidates, options)
    values = fetch_columns(table.head(SAMPLE + 1), wanted)
    if len(values[wanted[0]]) <= SAMPLE:
        return _near(values, named, candidates is not None, weights, n_candidates, options)

    if not isinstance(gauge, str):
        raise InvalidInput("a matrix gauge needs the rows in memory: collect the table first.")
    distant = Table.of(table, schema, terms.scoring, named)
    sample = {name: _scores(terms, values, columns) for name, columns in named.items()}
    if group is not None:
        labels = np.asarray(values[group])
        scan = GroupScan(distant, group)
        return _groups(terms, scan, named[""], sample[""], labels, n_candidates, progress)
    if candidates is not None:
        return _family(terms, distant, named, sample, shares, progress)
    return _single(terms, distant, named[""], sample[""], n_candidates, progress)


def _near(
    values: Mapping[str, Any],
    named: Mapping[str, Columns],
    family: bool,
    weights: Any,
    n_candidates: int,
    options: dict[str, Any],
) -> Certificate | FamilyCertificate | GroupCertificate:
    """Certify a table whose columns are here."""
    columns = next(iter(named.values()))
    y = read_values(values, columns.target)
    if family:
        pairs = {name: read_predicted(values, columns) for name, columns in named.items()}
        joint = certify_family(y, pairs, weights=weights, **options)
        of_each = {name: replace(cert, columns=named[name]) for name, cert in joint.candidates.items()}
        return replace(joint, candidates=FrozenMap(of_each))
    prediction, scale = read_predicted(values, columns)
    if columns.group is not None:
        del options["rank"]
        groups = values[columns.group]
        each = certify_groups(y, prediction, groups, scale, n_candidates=n_candidates, **options).groups
        parts = {label: replace(cert, columns=columns) for label, cert in each.items()}
        return GroupCertificate(groups=FrozenMap(parts))
    return replace(certify(y, prediction, scale, n_candidates=n_candidates, **options), columns=columns)


def _single(
    terms: Terms, table: Table, columns: Columns, sample: Any, n_candidates: int, progress: Progress | None
) -> Certificate:
    search = Search.begin(sample, lambda n: terms.single_rank(n, n_candidates))
    measured = _measured(FamilyScan(table), {"": search}, progress)[""]
    settled = terms.single_rank(measured.n_samples, n_candidates)
    return terms.certificate(measured, settled, **_known(columns), n_candidates=n_candidates)


def _family(
    terms: Terms,
    table: Table,
    named: Mapping[str, Columns],
    sample: Mapping[str, Any],
    shares: Mapping[str, float | None],
    progress: Progress | None,
) -> FamilyCertificate:
    ranks = cache(lambda n: terms.family_ranks(n, shares))

    def settle(name: str) -> Callable[[int], int]:
        return lambda n: ranks(n)[name]

    searches = {name: Search.begin(scores, settle(name)) for name, scores in sample.items()}
    measured = _measured(FamilyScan(table), searches, progress)
    certificates = {
        name: terms.certificate(
            found,
            ranks(found.n_samples)[name],
            **_known(named[name]),
            n_candidates=len(shares),
            weight=shares[name],
        )
        for name, found in measured.items()
    }
    return FamilyCertificate.of(certificates, table.mean_scales(), table.mean_offsets(), table.unanswered())


def _groups(
    terms: Terms,
    scan: GroupScan,
    columns: Columns,
    sample: Any,
    labels: Any,
    n_candidates: int,
    progress: Progress | None,
) -> GroupCertificate:
    counts = scan.counts()
    ranks = terms.group_ranks(counts, n_candidates)
    searches = {label: Search.begin(sample[labels == label], _settled(n, ranks[label])) for label, n in counts.items()}
    measured = _measured(scan, searches, progress)
    known = _known(columns)
    return GroupCertificate(
        groups=FrozenMap(
            {
                label: terms.certificate(
                    measured[label],
                    ranks[label],
                    **known,
                    n_candidates=n_candidates * len(counts),
                )
                for label in counts
            }
        )
    )


def _settled(n_samples: int, rank: int) -> Callable[[int], int]:
    """The rank within a group, whose number of rows is known: of a sample of it, the same share."""
    return lambda n: rank if n == n_samples else max(1, round(rank * (n / n_samples)))


def _measured(scan: Any, searches: Mapping[Any, Search], progress: Progress | None) -> dict[Any, Measured]:
    passes = 0

    def reporting(requests: Mapping[Any, Request]) -> Mapping[Any, Tally]:
        nonlocal passes
        answers: Mapping[Any, Tally] = scan(requests)
        passes += 1
        if progress is not None:
            progress(passes, max(2, passes))
        return answers

    return select(reporting, searches)


def _known(columns: Columns) -> dict[str, Any]:
    """What the columns tell a certificate."""
    return {"n_outputs": len(columns.target), "scale_kind": columns.scale_kind, "columns": columns}


def _named(target: Any, prediction: Any, scale: Any, group: str | None, candidates: Any) -> dict[str, Columns]:
    """Return the columns of every candidate; of a single one, under the empty name."""
    if not target:
        raise InvalidInput(f"target must be the name of a column, got {target!r}.")
    if (prediction is None) == (candidates is None):
        raise InvalidInput("either prediction or candidates must be given, and not both.")
    if candidates is None:
        return {"": columns_of(target, prediction, scale, group)}
    if scale is not None:
        raise InvalidInput("with candidates, each brings its own scale: {'name': ('prediction', 'scale')}.")
    check_candidates(candidates)
    return {
        name: columns_of(target, *split_candidate(parts), of=f" of candidate {name!r}")
        for name, parts in candidates.items()
    }


def _scores(terms: Terms, values: Mapping[str, Any], columns: Columns) -> Any:
    return terms.scoring.scores(read_values(values, columns.target), *read_predicted(values, columns))
