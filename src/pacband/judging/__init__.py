"""Rows against a certificate: who violates it, and what the count says."""

from pacband.judging.checking import check
from pacband.judging.verdicts import Count, Verdict

__all__ = ["Count", "Verdict", "check"]
