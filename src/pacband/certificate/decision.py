"""Decide whether the numbers of certificates support what they promise."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pacband.exceptions import CertificateError
from pacband.planning import LARGEST_N, DeltaShare
from pacband.planning.binomial import tail_at_most

if TYPE_CHECKING:
    from pacband.certificate.single import Certificate

__all__ = ["certifies", "check_joint", "is_score_at_rank"]

# A large table has many groups, but few different numbers of rows: every exact decision is made once.


@lru_cache(maxsize=1 << 12)
def certifies(n_samples: int, rank: int, eps: float, delta: float, share: DeltaShare, slack: Fraction) -> bool:
    """Whether B(r − 1; N, ε) is at most the share of δ that the dependence between draws leaves."""
    budget = share.budget(delta) - slack
    return budget > 0 and tail_at_most(n_samples, rank, eps, budget)


def is_score_at_rank(gamma: Any, rank: Any, n_samples: Any) -> bool:
    """Whether the numbers can be a score and its rank among N scores."""
    try:
        return 1 <= operator.index(rank) <= operator.index(n_samples) <= LARGEST_N and not math.isnan(gamma)
    except (TypeError, OverflowError):  # not numbers, or an integer that is too large for a float
        return False


def check_joint(certificates: Collection[Certificate]) -> None:
    """Raise unless these certificates hold together: they have one (ε, δ), and their shares of δ sum to at most one."""
    promises = {(cert.eps, cert.delta) for cert in certificates}
    shares = Counter(cert.share for cert in certificates)
    if len(promises) != 1 or sum(share.fraction * times for share, times in shares.items()) > 1:
        raise CertificateError(
            f"{len(certificates)} certificates do not make one promise: they must have one eps and delta, and their "
            "shares of delta must not exceed it."
        )
