"""What a monitor has already taken in, so that nothing counts twice: batch ids, and how far streams were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

__all__ = ["Ledger", "StreamPosition"]

MOST_BATCHES = 1024
MOST_STREAMS = 64
# A longer batch id is kept as its SHA-256. What is kept is then longer than this, and so no other batch's own id.
_LONGEST_ID = 64
_HASHED = "sha256:"


@dataclass(frozen=True)
class StreamPosition:
    """How far a stream was read: its first `offset` bytes, whose SHA-256 is `sha256`, hold `rows` rows."""

    offset: int
    rows: int
    sha256: str


class Ledger:
    """The last 1024 batch ids and the last 64 streams; what is older is forgotten.

    Memory must not grow with the stream. Streams are known by their content and not by their name: one that begins
    with bytes that were read before is the same stream, gone on with. A batch id of more than 64 characters is kept as
    its SHA-256.
    """

    __slots__ = ("_batches", "_streams")

    def __init__(self, batches: Iterable[str] = (), streams: Iterable[StreamPosition] = ()) -> None:
        self._batches = dict.fromkeys(batches)
        self._streams = list(streams)

    def __contains__(self, batch_id: str) -> bool:
        return _kept(batch_id) in self._batches

    @property
    def streams(self) -> tuple[StreamPosition, ...]:
        """How far streams were read, the last one last."""
        return tuple(self._streams)

    def note_batch(self, batch_id: str) -> None:
        """Remember a batch; the oldest is forgotten where there are too many."""
        self._batches[_kept(batch_id)] = None
        if len(self._batches) > MOST_BATCHES:
            del self._batches[next(iter(self._batches))]

    def note_stream(self, position: StreamPosition, before: StreamPosition | None) -> None:
        """Remember how far a stream was read, in place of how far it had been `before`."""
        others = [known for known in self._streams if known != before]
        self._streams = [*others[1 - MOST_STREAMS :], position]

    @staticmethod
    def shared(ledgers: Sequence[Ledger]) -> list[str]:
        """Return what several of them have taken in, in words: batches of one id, and streams read equally far."""
        batches = Counter(batch for ledger in ledgers for batch in ledger._batches)
        streams = Counter(position for ledger in ledgers for position in set(ledger._streams))
        return [f"batch {batch!r}" for batch, times in batches.items() if times > 1] + [
            f"a stream of {position.rows} rows" for position, times in streams.items() if times > 1
        ]

    def merged(self, other: Ledger) -> Ledger:
        """Return what either has taken in, as far as there is room."""
        return Ledger([*self._batches, *other._batches][-MOST_BATCHES:], [])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {"batches": list(self._batches), "streams": [asdict(position) for position in self._streams]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Ledger:
        """Rebuild it from `to_dict`."""
        return cls(content["batches"], [StreamPosition(**position) for position in content["streams"]])


def _kept(batch_id: str) -> str:
    """Return what is kept of a batch id: itself, or its SHA-256 where it is long, so that the state stays small."""
    if len(batch_id) <= _LONGEST_ID:
        return batch_id
    return _HASHED + sha256(batch_id.encode("utf-8", "surrogatepass")).hexdigest()
