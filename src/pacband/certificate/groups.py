"""The certificate of every group of rows at once, of groups that may overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeGuard

import numpy as np

from pacband.certificate.certified_labels import locate_rows, refuse_unknown
from pacband.certificate.decision import check_joint
from pacband.certificate.inequality import symbols
from pacband.certificate.promise import Promise
from pacband.certificate.promising import Promising
from pacband.certificate.single import Certificate
from pacband.certificate.words import about_text
from pacband.core.arrays import Floats, check_lengths, check_same_rows
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label, as_labels, listed
from pacband.core.members import Masks, as_masks, group_members
from pacband.core.wording import card
from pacband.draws import Draws
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import CertificateError, InvalidInput

__all__ = ["GroupCertificate", "groups_overlap"]


@dataclass(frozen=True, kw_only=True)
class GroupCertificate(Promising):
    """One promise within every group of rows at once: each of G groups is certified at δ/G.

    Groups may overlap. A row then has the largest bound of its groups, and every promise holds with these bounds:
    P(q > max γ̄ | g) ≤ P(q > γ̄_g | g) ≤ ε.

    Attributes
    ----------
    groups : mapping of label to Certificate
        What each group promises.
    overlapping : bool
        Whether a row may be in several groups. Then `groups` of the methods below are masks, as in `certify_groups`.
    """

    groups: FrozenMap[Label, Certificate]
    overlapping: bool = False

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
        """The number of calibration draws over all groups. A draw in several groups counts in each."""
        return sum(cert.n_samples for cert in self.groups.values())

    def gamma(self, groups: Any) -> Floats:
        """Return γ̄ of every row's own group, the largest if it is in several; raise if a group was not calibrated."""
        if self.overlapping:
            masks = self.masks(groups)
            bounds = [np.where(masks[label], cert.gamma, -math.inf) for label, cert in self.groups.items()]
            return np.asarray(np.max(bounds, axis=0))
        if isinstance(groups, Mapping):
            raise InvalidInput("the groups of this certificate do not overlap: pass one label for every row.")
        gammas = np.array([cert.gamma for cert in self.groups.values()])
        places = {label: place for place, label in enumerate(self.groups)}
        return np.asarray(gammas[locate_rows(as_labels(groups), places)])

    def masks(self, groups: Any) -> Masks:
        """Return the masks of groups that overlap, or raise unless they are those of the certificate."""
        if not isinstance(groups, Mapping):
            raise InvalidInput("the groups of this certificate overlap: pass a mapping of every group to its mask.")
        refuse_unknown(groups, self.groups, "groups")
        missing = [label for label in self.groups if label not in groups]
        if missing:
            raise InvalidInput(
                f"every group needs its mask, because a row has the largest bound of its groups: {listed(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing."
            )
        return as_masks(groups)

    def interval(self, y_pred: Any, groups: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions, each by its own row's group; the widest if it is in several."""
        check_same_rows(y_pred=y_pred, groups=_columns(groups), scale=scale)
        prediction, gamma = self.basis.check_outputs("y_pred", y_pred), self.gamma(groups)
        check_lengths(groups=gamma, y_pred=prediction)
        return self.basis.band(gamma, prediction, scale)

    def outlook(self, m: int, delta: float | None = None) -> FrozenMap[Label, int]:
        """Return, for every group, the most violations among the next m draws of that group.

        Each group uses its share of δ, so the counts of all groups hold together. See `Certificate.outlook`.
        """
        return FrozenMap({label: cert.outlook(m, delta) for label, cert in self.groups.items()})

    def verify(self, y: Any, y_pred: Any, groups: Any, scale: Any = None, *, draws: Draws | None = None) -> bool:
        """Recompute every group's certificate from its data. If it was certified with `draws`, they are needed."""
        check_same_rows(y=y, y_pred=y_pred, groups=_columns(groups), scale=scale)
        if isinstance(groups, Mapping) != self.overlapping:
            return False
        sample, scores = self.basis.drawn(y, y_pred, scale, draws=draws)
        members = group_members(groups, sample.assign)
        return set(members) == set(self.groups) and all(
            len(members[label])
            and cert.was_made_from(sample.part(members[label]), sample.scores_of_part(scores, members[label]))
            for label, cert in self.groups.items()
        )

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        several = " A row in several groups has the largest of their bounds." if self.overlapping else ""
        if isinstance(self.basis.draws, UnitDraws):
            limit, noun = "the bound of that group", self.basis.noun
            kept = self.basis.draws.sentence(self.basis.kept, limit, noun=noun, verb="are within")
            return f"{self.basis.confidence}, in each of the {len(self.groups)} groups {kept}.{several}"
        return (
            f"{self.basis.confidence}, {self.basis.kept} of future {self.basis.subject} in each of the "
            f"{len(self.groups)} groups stay within the bound of that group.{several}"
        )

    def __str__(self) -> str:
        width = max(len(str(label)) for label in self.groups)
        lines = [f"  {label!s:<{width}}  {cert.inequality}  ({cert.support})" for label, cert in self.groups.items()]
        holds = f"It holds if {'; '.join(self.basis.assumptions)}.{about_text(self.about)}"
        return "\n".join([self.promise, *lines, holds])

    def _repr_html_(self) -> str:
        rows = [(str(label), f"{cert.inequality} ({cert.support})") for label, cert in self.groups.items()]
        return card(
            "pacband group certificate",
            self.promise,
            [("where", symbols(self.basis)), *self.about.facts(), *rows],
            unit=self.about.unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        content = self._content({label: cert.to_dict() for label, cert in self.groups.items()})
        return {"kind": "groups", "promise": self.promise, **content}

    def stated(self) -> dict[str, Any]:
        """Return what the certificate states, without what follows from it."""
        return {"kind": "groups", **self._content({label: cert.stated() for label, cert in self.groups.items()})}

    def _content(self, certificates: dict[Any, dict[str, Any]]) -> dict[str, Any]:
        """Return every group with its certificate as given. If groups cannot overlap, nothing is stated about it."""
        groups = [{"label": label, "certificate": certificate} for label, certificate in certificates.items()]
        return {**({"overlapping": True} if self.overlapping else {}), "groups": groups}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        groups = FrozenMap({g["label"]: Certificate.from_dict(g["certificate"]) for g in content["groups"]})
        return cls(groups=groups, overlapping=content.get("overlapping", False))


def groups_overlap(certificate: Promising) -> TypeGuard[GroupCertificate]:
    """Return whether a certificate of any kind promises within groups that overlap."""
    return isinstance(certificate, GroupCertificate) and certificate.overlapping


def _columns(groups: Any) -> Any:
    """Return masks as a tuple of columns, and one column of labels as it is."""
    return tuple(groups.values()) if isinstance(groups, Mapping) else groups
