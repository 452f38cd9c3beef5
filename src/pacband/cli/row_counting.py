"""The rows of ``pacband monitor``: those that were counted before are skipped, and all others are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from pacband.cli.console import fail, print_message

if TYPE_CHECKING:
    from pacband.monitoring import Monitor
    from pacband.monitoring.ledger import StreamPosition
    from pacband.monitoring.readers import ColumnReader, ModelReader
    from pacband.monitoring.sources import Source
    from pacband.monitoring.streams import RowStream

__all__ = ["RowCounter"]


@dataclass(frozen=True)
class RowCounter:
    """Counts the rows of sources until the promise is revoked.

    Attributes
    ----------
    monitor : Monitor
        What counts the rows.
    reader : ColumnReader or ModelReader
        What makes scores of them.
    after_batch : function
        Called after every batch: it keeps the state, and prints it.
    batch_size : int
        The number of rows of a batch.
    form : {"csv", "jsonl"} or None
        The form of the lines; None if it is recognised.
    replay : bool
        Whether standard input starts with rows that were counted before.
    follow, finish : bool
        Whether more rows are awaited at the end of a file, and whether its last line is complete.
    """

    monitor: Monitor
    reader: ColumnReader | ModelReader
    after_batch: Callable[[], None]
    batch_size: int
    form: str | None
    replay: bool
    follow: bool
    finish: bool

    def count(self, source: Source) -> None:
        """Count the rows of a source and, if it is followed, of the files that replace it."""
        stream = self._open(source, source.stream)
        before = self._skip(source, stream)
        if before is None:
            # Of a file that replaces a followed one, it is known that its rows are new.
            _refuse_counted(stream, self.monitor, source.name)
        self._count_rows(source, stream, before)
        followed = source.file if self.follow else None
        while followed is not None and self.monitor.state != "revoked":
            stream = self._open(source, followed.advance())
            print_message(f"pacband: {source.name} was replaced: the old file is finished, the new file is read now.")
            self._count_rows(source, stream, self._skip(source, stream))

    def _open(self, source: Source, lines: BinaryIO) -> RowStream:
        from pacband.monitoring.streams import RowStream

        reader = self.reader
        return RowStream(
            lines,
            reader.numbers,
            reader.words,
            self.form,
            late=reader.late,
            written=source.written,
            inputs=reader.inputs,
            path=source.path,
        )

    def _skip(self, source: Source, stream: RowStream) -> StreamPosition | None:
        """Skip the rows that were counted before, and return where they end; None if there are none."""
        counted = self.monitor.ledger.streams
        if not source.piped:
            before = stream.skip(counted, wait=self.follow)
        elif not self.replay or not counted:
            return None
        elif (before := stream.skip(counted[-1:])) is None:
            fail("--replay needs standard input to start with the rows that were already processed, and it does not.")
        if before is not None:
            print_message(f"pacband: {before.rows} rows were already processed: reading resumes after them.")
        return before

    def _count_rows(self, source: Source, stream: RowStream, before: StreamPosition | None) -> None:
        """Count the rows after `before`."""
        file = source.file
        growing = file is not None and file.regular and not (self.follow or self.finish)
        followed = file if self.follow else None
        for rows in stream.batches(self.batch_size, follow=self.follow, growing=growing, file=followed):
            self.reader.count(rows.columns)
            self.monitor.ledger.note_stream(rows.position, before)
            before = rows.position
            self.after_batch()
            if self.monitor.state == "revoked":
                return
        if growing and stream.unfinished:
            print_message(
                "pacband: the last line has no line break. It may still be written, and is not counted; --finish "
                "counts it."
            )
        elif before is None and not self.follow:
            print_message(f"pacband: {source.name} has no rows.")


def _refuse_counted(stream: RowStream, monitor: Monitor, name: str) -> None:
    """End the command if a file has rows that were read from it before, and tell if it may have some."""
    overlap = stream.find_overlap(monitor.ledger.streams)
    if overlap is None:
        return
    if overlap.certain:
        fail(
            f"{name} was read before, and has changed: about {overlap.rows} rows would be counted twice. What was "
            "counted stays counted: write the new rows to a file of their own, or start a new state file. To count all "
            "rows of this file again, give it another name."
        )
    print_message(
        f"pacband: {name} was read before, and has other rows now. All of them are counted, and rows that it had "
        "before are counted twice."
    )
