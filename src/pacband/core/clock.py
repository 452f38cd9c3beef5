"""When a certificate or a report is created."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["time_of_creation"]


def time_of_creation() -> str:
    """Return the time now, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
