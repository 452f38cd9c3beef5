"""What a monitor has already counted, so that nothing is counted twice: batches, streams and saved states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

__all__ = ["MOST_SAMPLED", "MOST_STREAMS", "Ledger", "StreamPosition", "append_entry", "shorten"]

MOST_BATCHES = 1024
MOST_STREAMS = 64
MOST_STATES = 1024
# Rows of a file that its position remembers; see `overlap`.
MOST_SAMPLED = 32
# A longer batch id is replaced by its SHA-256 with a prefix. The result is longer than this, so it equals no short id.
_LONGEST_ID = 64
_HASHED = "sha256:"


@dataclass(frozen=True)
class StreamPosition:
    """How far a stream was read: its first `offset` bytes, whose SHA-256 is `sha256`, contain `rows` rows.

    If the stream is a file, `file` is the SHA-256 of its path, and `sample` are the CRC-32 of some of its rows.
    """

    offset: int
    rows: int
    sha256: str
    file: str | None = field(default=None, compare=False)
    sample: tuple[int, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the position as JSON-ready values."""
        content = {"offset": self.offset, "rows": self.rows, "sha256": self.sha256}
        if self.file is None:
            return content
        return {**content, "file": self.file, "sample": "".join(f"{code:08x}" for code in self.sample)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> StreamPosition:
        """Return the position of the values from `to_dict`."""
        codes = content.get("sample", "")
        sample = tuple(int(codes[at : at + 8], 16) for at in range(0, len(codes), 8))
        return cls(content["offset"], content["rows"], content["sha256"], content.get("file"), sample)


class Ledger:
    """The last 1024 batch ids, the last 64 streams and the last 1024 saved states. Older entries are forgotten.

    So memory does not grow with the stream. A stream is identified by its content and not by its name: if a stream
    starts with bytes that were read before, it is the same stream. A batch id of more than 64 characters is stored as
    its SHA-256. Saved states are not written to a state file.
    """

    __slots__ = ("_batches", "_states", "_streams")

    def __init__(
        self, batches: Iterable[str] = (), streams: Iterable[StreamPosition] = (), states: Iterable[str] = ()
    ) -> None:
        self._batches = dict.fromkeys(batches)
        self._streams = list(streams)
        self._states = dict.fromkeys(states)

    def __contains__(self, batch_id: str) -> bool:
        return shorten(batch_id) in self._batches

    @property
    def streams(self) -> tuple[StreamPosition, ...]:
        """How far streams were read, the latest one last."""
        return tuple(self._streams)

    def note_batch(self, batch_id: str) -> None:
        """Remember a batch. If there are too many, forget the oldest."""
        append_entry(self._batches, shorten(batch_id), MOST_BATCHES)

    def note_stream(self, position: StreamPosition, before: StreamPosition | None) -> None:
        """Remember how far a stream was read. This replaces its earlier position, `before`."""
        others = [known for known in self._streams if known != before]
        self._streams = [*others[1 - MOST_STREAMS :], position]

    def note_state(self, fingerprint: str) -> None:
        """Remember the fingerprint of a saved state that contains rows."""
        append_entry(self._states, fingerprint, MOST_STATES)

    @staticmethod
    def shared(ledgers: Sequence[Ledger]) -> list[str]:
        """Describe what several ledgers have counted: equal batch ids, streams read equally far, equal saved states."""
        batches = Counter(batch for ledger in ledgers for batch in ledger._batches)
        streams = Counter(position for ledger in ledgers for position in set(ledger._streams))
        found = [f"batch {batch!r}" for batch, times in batches.items() if times > 1]
        found += [f"a stream of {position.rows} rows" for position, times in streams.items() if times > 1]
        states = Counter(fingerprint for ledger in ledgers for fingerprint in ledger._states)
        if not found and any(times > 1 for times in states.values()):
            found = ["a state that one of them saved and another read"]
        return found

    @classmethod
    def merged(cls, ledgers: Sequence[Ledger]) -> Ledger:
        """Return the latest batch ids and saved states of all ledgers. Streams are left out."""
        batches = [batch for ledger in ledgers for batch in ledger._batches]
        states = [fingerprint for ledger in ledgers for fingerprint in ledger._states]
        return cls(batches[-MOST_BATCHES:], states=states[-MOST_STATES:])

    def to_dict(self) -> dict[str, Any]:
        """Return the batches and streams as JSON-ready values."""
        return {"batches": list(self._batches), "streams": [position.to_dict() for position in self._streams]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Ledger:
        """Return the ledger of the values from `to_dict`."""
        return cls(content["batches"], map(StreamPosition.from_dict, content["streams"]))


def append_entry(entries: dict[Any, None], entry: Any, most: int) -> None:
    """Move an entry to the end of an ordered set. If the set is too large, remove its first entry."""
    entries.pop(entry, None)
    entries[entry] = None
    if len(entries) > most:
        del entries[next(iter(entries))]


def shorten(name: str) -> str:
    """Return a batch id or the label of a unit as it is stored: unchanged, or its SHA-256 if it is long."""
    if len(name) <= _LONGEST_ID:
        return name
    return _HASHED + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
