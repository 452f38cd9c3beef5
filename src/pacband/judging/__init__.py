"""Compare rows with a certificate: which rows violate it, and whether their number contradicts the promise."""

from pacband.judging.checking import check
from pacband.judging.verdicts import Count, Verdict

__all__ = ["Count", "Verdict", "check"]
