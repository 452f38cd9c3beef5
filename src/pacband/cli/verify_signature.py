"""``pacband verify-signature``: check the signature of a certificate or a model."""

from __future__ import annotations

import sys

import click

from pacband.cli.console import print_json, print_message, print_text
from pacband.cli.options import json_option
from pacband.cli.output import Input

EXAMPLES = """
\b
Examples:
  pacband verify-signature cert.json --key public.pem \\
      && pacband apply cert.json new.csv -o bands.csv
  pacband verify-signature model.pacband --key public.pem \\
      --signature model.sig --json
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", metavar="FILE", type=Input())
@click.option("--key", required=True, type=Input(), help="PEM file of the signer's public Ed25519 key.")
@click.option("--signature", type=Input(), help="File of the signature.  [default: FILE.sig]")
@json_option
def command(certificate: str, key: str, signature: str | None, as_json: bool) -> None:
    """Check that a certificate or model FILE was signed with a key, and print its promise.

    Exit code 0: the signature is valid. Exit code 1: it is not, because the file was changed after it was signed, or
    because another key signed it. The public key must come from the signer by a way that you trust, not with the file.
    A valid signature says who issued the promise, not that it holds. `pacband verify` is a short name of this command.
    """
    from pacband.core.signatures import key_fingerprint
    from pacband.models.signing import signed_certificate

    fingerprint = key_fingerprint(key)
    found = signed_certificate(certificate, key, signature=signature)
    if as_json:
        stated = {} if found is None else {"promise": found.promise, "about": found.about.to_dict()}
        print_json({"file": certificate, "valid": found is not None, "key": fingerprint, **stated})
    elif found is not None:
        print_text(str(found))
    if found is None:
        print_message(
            f"pacband: the signature of {certificate} is not valid for the key {fingerprint}: the file was changed "
            "after it was signed, or another key signed it."
        )
        sys.exit(1)
    print_message(f"The signature of {certificate} is valid for the key {fingerprint}.")
