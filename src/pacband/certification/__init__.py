"""Terms and scores make a certificate: Algorithms 1 and 2 and Theorem 1 of the paper."""

from pacband.certification.arrays import certify, certify_family, certify_groups
from pacband.certification.own_scores import certify_scores
from pacband.certification.tolerance import certify_tolerance

__all__ = ["certify", "certify_family", "certify_groups", "certify_scores", "certify_tolerance"]
