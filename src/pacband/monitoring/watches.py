"""The watches of a monitor: one for every group of the certificate, or a single one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certificate.draw_words import ROW_WORDS, DrawWords
from pacband.core.labels import Label
from pacband.core.wording import percent
from pacband.exceptions import CertificateError
from pacband.monitoring.watch import STATES, Watch

__all__ = ["Watches"]


class Watches(Mapping[Label | None, Watch]):
    """The watch of each group; without groups, a single watch with the label None.

    Each of G groups gets α/G: by a union bound, the state of any group ever becomes "revoked" with probability at most
    α while the promise holds. The detectors need no such correction: the sum of their values grows by at most one a
    row, so that the false alarm interval holds over the rows of all groups.

    Attributes
    ----------
    state : {"ok", "warning", "revoked"}
        The worst state of all groups.
    unchecked : set of labels
        The watches that changed since their content was last checked against the schema of state files.
    """

    __slots__ = ("_watches", "_words", "state", "unchecked")

    def __init__(
        self,
        labels: Iterable[Label | None],
        eps: float,
        alpha: float,
        false_alarm_interval: float,
        words: DrawWords = ROW_WORDS,
    ) -> None:
        names = list(labels)
        self._words = words
        self._watches = {label: Watch(eps, alpha / len(names), false_alarm_interval, words) for label in names}
        self.state = STATES[0]
        self.unchecked = set(names)

    def __getitem__(self, label: Label | None) -> Watch:
        return self._watches[label]

    def __iter__(self) -> Iterator[Label | None]:
        return iter(self._watches)

    def __len__(self) -> int:
        return len(self._watches)

    @property
    def n_rows(self) -> int:
        """Rows with a label, in all groups."""
        return sum(watch.n_rows for watch in self.values())

    @property
    def n_violations(self) -> int:
        """Rows beyond the bound, in all groups."""
        return sum(watch.n_violations for watch in self.values())

    @property
    def n_unlabelled(self) -> int:
        """Rows without a label, in all groups."""
        return sum(watch.n_unlabelled for watch in self.values())

    @property
    def e_value(self) -> float:
        """The largest E of G groups, divided by G."""
        return max(watch.e_value for watch in self.values()) / len(self)

    @property
    def detector_value(self) -> float:
        """The largest value of the detectors."""
        return max(watch.detector_value for watch in self.values())

    @property
    def reason(self) -> str:
        """A sentence that explains the state: for groups, one for each group in the worst state."""
        if len(self) == 1:
            return next(iter(self.values())).reason
        if self.state == "ok":
            eps = next(iter(self.values())).eps
            return (
                f"There is no evidence against the promise in any of {len(self)} groups: {self.n_violations} "
                f"violations in {self.n_rows} {self._words.tested}; at most {percent(eps)} are allowed in each."
            )
        return " ".join(f"Group {label!r}: {w.reason}" for label, w in self.items() if w.state == self.state)

    def update(self, label: Label | None, violated: npt.NDArray[np.bool_], unlabelled: int) -> None:
        """Count new rows of a group."""
        watch = self._watches[label]
        watch.update(violated, unlabelled)
        # New rows never improve a state, so the other groups need no look. The cost does not grow with their number.
        self.state = max(self.state, watch.state, key=STATES.index)
        self.unchecked.add(label)

    def acknowledge(self) -> None:
        """Acknowledge all warnings and reset their detectors. Revocations stay."""
        for label, watch in self.items():
            if watch.warned_at is not None:
                watch.acknowledge()
                self.unchecked.add(label)
        self._find_state()

    def merge(self, parts: Sequence[Watches]) -> None:
        """Replace every watch by the merged watches of the parts with the same label."""
        self._watches = {label: Watch.merged([part[label] for part in parts]) for label in self}
        self._find_state()

    def to_list(self) -> list[dict[str, Any]]:
        """Return the watches as JSON-ready values."""
        return [{"label": label, **watch.to_dict()} for label, watch in self.items()]

    def restore(self, content: Sequence[Mapping[str, Any]]) -> None:
        """Set the values from `to_list`, or raise `CertificateError` if no stream can lead to them."""
        if [watch["label"] for watch in content] != list(self):
            raise CertificateError("the groups of the state are not those of its certificate.")
        for watch in content:
            self[watch["label"]].restore(watch)
        self._find_state()

    def _find_state(self) -> None:
        self.state = max((watch.state for watch in self.values()), key=STATES.index)
