"""The order of the examples within a room of the gallery: what a reader should see first. Others follow by name."""

from __future__ import annotations

FIRST = ("sklearn_model", "predictions_from_csv", "ten_models", "new_machines", "hourly_forecaster", "per_group")


class ReadingOrder:
    """A key for the files of a folder."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, file_name: str) -> tuple[int, str]:
        """Return the place of an example, and its name."""
        name = file_name.removesuffix(".py")
        return FIRST.index(name) if name in FIRST else len(FIRST), name

    def __repr__(self) -> str:
        return type(self).__name__
