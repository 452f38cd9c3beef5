"""`certify_chunks`: the certificate of rows that come in pieces, too many for memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from pacband.certificate import About, Certificate
from pacband.certificate.single import issue
from pacband.certification.terms import Terms
from pacband.checks.warning import warn_of_findings
from pacband.core.arrays import Floats, check_same_rows
from pacband.draws import Draws
from pacband.draws.streams import DrawStream, stream_draws
from pacband.exceptions import InvalidInput
from pacband.scores import RowShape, align, as_rows, row_shape, scale_kind, score_rows
from pacband.selection import Tally, begin_search, current_limits, select, sum_tallies, tally
from pacband.tables.first_rows import FirstRows

__all__ = ["certify_chunks"]


def certify_chunks(
    chunks: Iterable[Any],
    *,
    eps: float = 0.05,
    delta: float = 1e-6,
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
) -> Certificate:
    """Certify rows that come in pieces. Each piece is read once.

    The scores are written to a temporary file, 8 bytes a row. Passes over the file find the score at the rank: memory
    does not grow with the number of rows. The certificate is that of `certify` for all rows at once, to the last bit.

    Parameters
    ----------
    chunks : iterable of (y, y_pred), (y, y_pred, scale) or (y, y_pred, scale, values)
        The pieces, each as `certify` takes it. The scale may be None. `values` are the labels or the importance of the
        rows, if `draws` names them.
    eps, delta, rank, rule, side, n_candidates, min_scale, nonfinite, gauge, clip, about
        As in `certify`.
    draws : Units, Spaced or Weighted, optional
        What one draw is, if it is not a row. With a name in place of labels or importance, as in ``Units("machine")``,
        every chunk brings its values; otherwise they are those of all rows, in the same order: if both have a pandas
        index, it must be the same. `Units` must be of all rows of a unit, and memory grows with their number; the draws
        are those of `certify`, however the rows are cut.

    Warns
    -----
    PromiseWarning
        If the first rows do not look like independent draws from one distribution; see `certify`. Only the first 4000
        rows are looked at. Units are looked at only if there are no more rows than these.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> y, guess = rng.standard_normal((2, 10, 500))
    >>> cert = pacband.certify_chunks(zip(y, guess), eps=0.1, delta=0.01)
    >>> cert.verify(y.ravel(), guess.ravel())
    True
    """
    terms = Terms.create(
        eps=eps,
        delta=delta,
        rank=rank,
        rule=rule,
        side=side,
        n_candidates=n_candidates,
        min_scale=min_scale,
        nonfinite=nonfinite,
        gauge=gauge,
        clip=clip,
        draws=draws,
        about=about,
    )
    if not isinstance(chunks, Iterable):
        raise InvalidInput(f"chunks must be an iterable of tuples (y, y_pred), got {type(chunks).__name__}.")
    stream, first_rows = stream_draws(terms.draws), FirstRows(terms)
    with TemporaryFile(prefix="pacband-") as file:
        sample, kind, shape = _write_scores(terms, stream, chunks, file, first_rows)

        def scan(requests: Any) -> dict[str, Tally]:
            return {
                key: sum_tallies(tally(piece, request) for piece in _read_pieces(file))
                for key, request in requests.items()
            }

        measured = select(scan, {"": begin_search(sample, terms.choose_rank, guess=terms.guess_rank)})[""]
    basis = terms.promise(**shape, scale_kind=kind)
    certificate = issue(basis, measured, terms.choose_rank(measured.n_samples), terms.share)
    warn_of_findings(first_rows.screen())
    return certificate


def _write_scores(
    terms: Terms, stream: DrawStream, chunks: Iterable[Any], file: IO[bytes], first_rows: FirstRows
) -> tuple[Floats, str, RowShape]:
    """Write the scores of all draws. Return some of them, the kind of scale and the shape of a row.

    Adds the rows to `first_rows`.
    """
    first = np.empty(0)
    shape = None
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, tuple) or len(chunk) not in (2, 3, 4):
            raise InvalidInput(
                f"chunk {number} must be a tuple (y, y_pred) or (y, y_pred, scale), or (y, y_pred, scale, values) with "
                f"the values of draws, got {_described(chunk)}."
            )
        y, y_pred, scale, values = (*chunk, None, None)[:4]
        target = as_rows(terms.scoring, "y", y, empty=True)
        if not len(target):
            continue
        found = scale_kind(scale), row_shape(target)
        shape = shape or found
        if found != shape:
            raise InvalidInput(f"chunk {number} has other outputs or another kind of scale than those before.")
        try:
            drawn = _values_with_index(terms.draws, stream.n_rows, len(target)) if values is None else values
            check_same_rows(y=y, y_pred=y_pred, scale=scale, draws=drawn)
            prediction, spread = align(terms.scoring, target, y_pred, scale)
            scores = stream.take(score_rows(terms.scoring, target, prediction, spread), values)
        except InvalidInput as error:
            raise type(error)(f"chunk {number}: {error}") from None
        first_rows.add(target, prediction, spread, values)
        file.write(scores.tobytes())
        first = first if len(first) else scores.copy()
    if shape is None:
        raise InvalidInput("chunks must have at least one row, got none.")
    scores = stream.finish()
    file.write(scores.tobytes())
    first = first if len(first) else scores[: current_limits().sample]
    return first, *shape


def _values_with_index(draws: Draws, start: int, n_rows: int) -> tuple[Any, ...]:
    """Return the labels or weights of some rows out of those of all rows, where they have a pandas index."""
    values = draws.row_values
    parts = values if isinstance(values, tuple) else (values,)
    return tuple(part.iloc[start : start + n_rows] for part in parts if hasattr(part, "iloc"))


def _described(chunk: Any) -> str:
    return f"{len(chunk)} parts" if isinstance(chunk, tuple) else type(chunk).__name__


def _read_pieces(file: IO[bytes]) -> Iterable[Floats]:
    file.seek(0)
    while data := file.read(8 * current_limits().piece):
        yield np.frombuffer(data)
