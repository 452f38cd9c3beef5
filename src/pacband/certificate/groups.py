"""The certificate of every group of rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pacband.certificate.certified_labels import locate_rows
from pacband.certificate.decision import check_joint
from pacband.certificate.promise import Promise
from pacband.certificate.promising import Promising
from pacband.certificate.single import Certificate
from pacband.core.arrays import Floats, check_lengths, check_same_rows
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label, as_labels, group_rows
from pacband.core.wording import card
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import CertificateError

__all__ = ["GroupCertificate"]


@dataclass(frozen=True, kw_only=True)
class GroupCertificate(Promising):
    """One promise within every group of rows at once: each of G groups is certified at δ/G.

    Attributes
    ----------
    groups : mapping of label to Certificate
        What each group promises.
    """

    groups: FrozenMap[Label, Certificate]

    def __post_init__(self) -> None:
        check_joint(self.groups.values())
        basis = self.basis
        if any(cert.basis is not basis and cert.basis != basis for cert in self.groups.values()):
            raise CertificateError("the groups of a certificate must make one promise: they score rows differently.")

    @property
    def basis(self) -> Promise:
        """What is promised within every group, and how a row is scored."""
        return next(iter(self.groups.values())).basis

    @property
    def single(self) -> None:
        """None: no single certificate bounds all rows, because every group has its own."""
        return

    @property
    def parts(self) -> FrozenMap[Label, Certificate]:
        """The certificates that judge rows, by group."""
        return self.groups

    @property
    def n_samples(self) -> int:
        """The number of calibration rows over all groups."""
        return sum(cert.n_samples for cert in self.groups.values())

    def gamma(self, groups: Any) -> Floats:
        """Return γ̄ of every row's own group, or raise if a label was not calibrated."""
        gammas = np.array([cert.gamma for cert in self.groups.values()])
        places = {label: place for place, label in enumerate(self.groups)}
        return np.asarray(gammas[locate_rows(as_labels(groups), places)])

    def interval(self, y_pred: Any, groups: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions, each by its own row's group."""
        check_same_rows(y_pred=y_pred, groups=groups, scale=scale)
        prediction, gamma = self.basis.check_outputs("y_pred", y_pred), self.gamma(groups)
        check_lengths(groups=gamma, y_pred=prediction)
        return self.basis.band(gamma, prediction, scale)

    def outlook(self, m: int, delta: float | None = None) -> FrozenMap[Label, int]:
        """Return, for every group, the most violations among the next m draws of that group.

        Each group uses its share of δ, so the counts of all groups hold together. See `Certificate.outlook`.
        """
        return FrozenMap({label: cert.outlook(m, delta) for label, cert in self.groups.items()})

    def verify(self, y: Any, y_pred: Any, groups: Any, scale: Any = None) -> bool:
        """Recompute every group's certificate from its data."""
        check_same_rows(y=y, y_pred=y_pred, groups=groups, scale=scale)
        scores = self.basis.scores(y, y_pred, scale)
        members = group_rows(as_labels(groups))
        return set(members) == set(self.groups) and all(
            cert.matches(scores[members[label]]) for label, cert in self.groups.items()
        )

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        if isinstance(self.basis.draws, UnitDraws):
            kept = self.basis.draws.sentence(self.basis.kept, "the bound of that group").replace(
                "satisfy", "are within"
            )
            return f"{self.basis.confidence}, in each of the {len(self.groups)} groups {kept}."
        return (
            f"{self.basis.confidence}, {self.basis.kept} of future {self.basis.draws.subject} in each of the "
            f"{len(self.groups)} groups stay within the bound of that group."
        )

    def __str__(self) -> str:
        width = max(len(str(label)) for label in self.groups)
        lines = [f"  {label!s:<{width}}  {cert.inequality}  ({cert.support})" for label, cert in self.groups.items()]
        return "\n".join([self.promise, *lines, f"It holds if {'; '.join(self.basis.assumptions)}."])

    def _repr_html_(self) -> str:
        rows = [(str(label), f"{cert.inequality} ({cert.support})") for label, cert in self.groups.items()]
        return card("pacband group certificate", self.promise, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        return {
            "kind": "groups",
            "promise": self.promise,
            "groups": [{"label": label, "certificate": cert.to_dict()} for label, cert in self.groups.items()],
        }

    def stated(self) -> dict[str, Any]:
        """Return what the certificate states, without what follows from it."""
        return {
            "kind": "groups",
            "groups": [{"label": label, "certificate": cert.stated()} for label, cert in self.groups.items()],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        return cls(groups=FrozenMap({g["label"]: Certificate.from_dict(g["certificate"]) for g in content["groups"]}))
