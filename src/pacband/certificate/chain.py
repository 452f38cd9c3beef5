"""The place of a certificate in a chain of certificates. Each follows the one before; see `recalibrate`."""

from __future__ import annotations

from pacband.exceptions import CertificateError
from pacband.planning.shares import successor_delta

__all__ = ["check_chain"]


def check_chain(delta: float, predecessor: str | None, generation: int, chain_delta: float | None) -> None:
    """Raise unless a certificate is the first of its chain, or has its place and its part of δ in one."""
    if predecessor is None and generation == 1 and chain_delta is None:
        return
    if not isinstance(predecessor, str) or chain_delta is None or generation < 2 or not 0.0 < chain_delta < 1.0:
        raise CertificateError(
            "a successor names its predecessor, its generation from 2 on and the chain's delta in (0, 1), got "
            f"predecessor={predecessor!r}, generation={generation}, chain_delta={chain_delta}."
        )
    if delta > successor_delta(chain_delta, generation):
        raise CertificateError(
            f"certificate {generation} of a chain at chain_delta={chain_delta:g} may use "
            f"{float(successor_delta(chain_delta, generation)):g}, got delta={delta:g}."
        )
