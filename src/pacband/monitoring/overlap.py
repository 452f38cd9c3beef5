"""Rows that were read from a file before, although its first bytes have changed since.

A file that starts with bytes that were read before is recognised by their SHA-256. It is not, if one of its rows was
corrected or its first rows were removed. So the position in a file has a sample of its rows: those with the smallest
CRC-32. These rows are found again wherever they are in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from zlib import crc32

from pacband.monitoring.ledger import MOST_SAMPLED, StreamPosition

__all__ = ["Overlap", "extend_sample", "find_overlap"]

# Fewer rows that agree may agree by chance.
_FEWEST = 8
# The most rows of a file that are looked at: it bounds the memory if a file is much longer than before.
_MOST_LOOKED = 100_000
# The CRC-32 of a line that is blank. Line breaks are left out, since an editor may change them.
_BLANK = 0


@dataclass(frozen=True)
class Overlap:
    """About how many `rows` of a file were read before, and whether it is `certain` that they are the same rows."""

    rows: int
    certain: bool


def extend_sample(sample: Sequence[int], lines: Iterable[bytes]) -> tuple[int, ...]:
    """Return the smallest CRC-32 of the lines of a sample and of more lines, each once, in rising order."""
    limit = sample[-1] if len(sample) == MOST_SAMPLED else 1 << 32
    codes = {code for line in lines if _BLANK < (code := crc32(line.rstrip())) < limit}
    return tuple(sorted(codes.union(sample))[:MOST_SAMPLED]) if codes else tuple(sample)


def find_overlap(lines: Iterable[bytes], known: Sequence[StreamPosition]) -> Overlap | None:
    """Compare the lines of a file with the samples of its earlier readings. Return None if most rows are others.

    Rows may agree by chance, if they have few different values. Then they also repeat within the file. If a share r of
    its rows are repeats, a row of the past is found by chance with a probability of about 2r. A share of rows that is
    found is certain if it exceeds twice that.
    """
    known = [position for position in known if len(position.sample) >= _FEWEST]
    if not known:
        return None
    limit = max(position.sample[-1] for position in known)
    codes = (code for line in lines if _BLANK < (code := crc32(line.rstrip())) <= limit)
    seen = Counter(islice(codes, _MOST_LOOKED))
    found = [overlap for position in known if (overlap := _compare(seen, position)) is not None]
    return max(found, key=lambda overlap: (overlap.certain, overlap.rows), default=None)


def _compare(seen: Counter[int], position: StreamPosition) -> Overlap | None:
    sample = position.sample
    counts = {code: count for code, count in seen.items() if code <= sample[-1]}
    n_found, n_looked = sum(code in counts for code in sample), sum(counts.values())
    share = n_found / len(sample)
    # Two more than were seen, since few are looked at.
    n_repeats = n_looked - len(counts) + 2
    certain = n_found >= _FEWEST and share * n_looked > 4 * n_repeats
    return Overlap(round(share * position.rows), certain) if certain or share >= 0.5 else None
