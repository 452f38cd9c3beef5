"""``pacband keygen``: a new key pair for signatures."""

from __future__ import annotations

import click

from pacband.cli.console import print_message, print_text
from pacband.cli.output import Output

EXAMPLES = """
\b
Examples:
  pacband keygen private.pem public.pem
"""


@click.command(epilog=EXAMPLES)
@click.argument("private", type=Output())
@click.argument("public", type=Output())
def command(private: str, public: str) -> None:
    """Make an Ed25519 key pair: the PRIVATE key signs certificates, the PUBLIC key verifies them.

    Only you can read the file of the private key; it has no password. Give the public key to whoever receives your
    certificates, and compare the fingerprint that is printed. Existing files are refused.
    """
    from pacband.core.signatures import generate_keys

    print_text(generate_keys(private, public))
    print_message(f"Saved {private} and {public}. The fingerprint is the SHA-256 of the public key.")
