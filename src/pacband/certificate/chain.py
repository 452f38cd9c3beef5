"""How a chain of certificates shares one promise.

The first certificate spends its δ. The k-th, k ≥ 2, spends δ/(k(k − 1)); since 1/2 + 1/6 + 1/12 + … = 1, all
certificates of a chain hold together with confidence 1 − 2δ, however long it becomes.
"""

from __future__ import annotations

from fractions import Fraction

from pacband.exceptions import CertificateError

__all__ = ["check_chain", "successor_delta"]


def successor_delta(chain_delta: float, generation: int) -> Fraction:
    """Return what the certificate of this generation, at least the second, may spend of the chain's δ."""
    return Fraction(chain_delta) / 2 / (generation * (generation - 1))


def check_chain(delta: float, predecessor: str | None, generation: int, chain_delta: float | None) -> None:
    """Raise unless a certificate is the first of its chain, or has its place and its share in one."""
    if predecessor is None and generation == 1 and chain_delta is None:
        return
    if not isinstance(predecessor, str) or chain_delta is None or generation < 2 or not 0.0 < chain_delta < 1.0:
        raise CertificateError(
            "a successor names its predecessor, its generation from 2 on and the chain's delta in (0, 1), got "
            f"predecessor={predecessor!r}, generation={generation}, chain_delta={chain_delta}."
        )
    if delta > successor_delta(chain_delta, generation):
        raise CertificateError(
            f"certificate {generation} of a chain at chain_delta={chain_delta:g} may spend "
            f"{float(successor_delta(chain_delta, generation)):g}, got delta={delta:g}."
        )
