"""`apply_frame`: a table with the certified band beside its predictions."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from pacband._labels import as_labels, listed
from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.exceptions import InvalidInput
from pacband.frames.columns import Pair, as_frame, check_columns, pair_of, read_pair
from pacband.frames.engines import fetch_rows
from pacband.frames.expressions import band, by_label
from pacband.frames.table import Table
from pacband.scores import outwards

__all__ = ["apply_frame"]


def apply_frame(
    certificate: Certificate | FamilyCertificate | GroupCertificate,
    frame: Any,
    *,
    prediction: str | list[str],
    scale: Any = None,
    group: str | None = None,
    names: tuple[str, str] = ("lower", "upper"),
) -> Any:
    """Return the table, of the caller's own kind, with the ends of the certified band in two more columns.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise. Of a family, the best candidate's: `prediction` and `scale` must be its columns.
    frame : table
        As in `certify_frame`. One in an engine stays there; its rows are checked, and the band is an expression.
    prediction, scale, group
        Columns, as in `certify_frame`.
    names : pair of str
        What to call the two columns; with several outputs, each is followed by ``_0``, ``_1`` and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> import pacband
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> pacband.apply_frame(cert, pd.DataFrame({"guess": [10.0]}), prediction="guess")
       guess  lower  upper
    0   10.0    9.5   10.5
    """
    single = certificate.certificate if isinstance(certificate, FamilyCertificate) else certificate
    any_ = next(iter(single.groups.values())) if isinstance(single, GroupCertificate) else single
    pair = pair_of("prediction", prediction, scale)
    any_.check_scale(scale)
    if len(pair.prediction) != any_.n_outputs:
        raise InvalidInput(
            f"this certificate bounds {any_.n_outputs} output(s), got {len(pair.prediction)} prediction column(s)."
        )
    if isinstance(single, GroupCertificate) != (group is not None):
        given = "none" if group is None else f"column {group!r}"
        wanted = "one group column" if isinstance(single, GroupCertificate) else "no group column"
        raise InvalidInput(f"this certificate takes {wanted}, got {given}.")
    table = as_frame(frame)
    schema = check_columns(table, pair.columns, group)
    outputs = [""] if any_.n_outputs == 1 else [f"_{k}" for k in range(any_.n_outputs)]
    for name in (f"{end}{output}" for end in names for output in outputs):
        if name in schema:
            raise InvalidInput(f"the table has a column {name!r} already: pass other names for the ends of the band.")
    if isinstance(table, nw.LazyFrame):
        return _distant(single, any_, table, schema, pair, group, names, outputs)
    return _in_memory(single, table, pair, group, names, outputs)


def _in_memory(
    single: Certificate | GroupCertificate,
    table: nw.DataFrame[Any],
    pair: Pair,
    group: str | None,
    names: tuple[str, str],
    outputs: list[str],
) -> Any:
    columns = {name: table.get_column(name).to_native() for name in pair.columns}
    prediction, scale = read_pair(columns, pair)
    if isinstance(single, GroupCertificate):
        labels = as_labels(table.get_column(str(group)).to_native())
        ends = single.interval(prediction, labels, scale)
    else:
        ends = single.interval(prediction, scale)
    ends = ends.reshape(len(ends), len(outputs), 2)
    series = [
        nw.new_series(f"{names[end]}{output}", ends[:, k, end].copy(), backend=table.implementation)
        for k, output in enumerate(outputs)
        for end in (0, 1)
    ]
    return table.with_columns(*series).to_native()


def _distant(
    single: Certificate | GroupCertificate,
    any_: Certificate,
    table: nw.LazyFrame[Any],
    schema: Any,
    pair: Pair,
    group: str | None,
    names: tuple[str, str],
    outputs: list[str],
) -> Any:
    Table(table, schema, any_.rule, (), {"": pair}).check_all()
    if isinstance(single, GroupCertificate):
        _check_labels(single, table, str(group))
        factor: Any = by_label(str(group), {label: float(outwards(c.gamma)) for label, c in single.groups.items()})
    else:
        factor = nw.lit(float(outwards(single.gamma)), nw.Float64)
    ends: dict[str, nw.Expr] = {}
    for k, output in enumerate(outputs):
        low, high = band(any_.rule, factor, pair, k)
        ends |= {f"{names[0]}{output}": low, f"{names[1]}{output}": high}
    return table.with_columns(**ends).to_native()


def _check_labels(certificate: GroupCertificate, table: nw.LazyFrame[Any], group: str) -> None:
    labels = [row["g"] for row in fetch_rows(table.select(nw.col(group).alias("g")).unique())]
    unknown = [label for label in labels if label not in certificate.groups]
    if unknown:
        raise InvalidInput(
            f"column {group!r} has labels without a certificate: {listed(unknown)}. "
            f"Certified are {listed(list(certificate.groups))}."
        )
