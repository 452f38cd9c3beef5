"""``pacband sign``: sign a certificate or a model."""

from __future__ import annotations

import click

from pacband.cli.console import print_message
from pacband.cli.output import Input, Output, check_outputs

EXAMPLES = """
\b
Examples:
  pacband keygen private.pem public.pem
  pacband sign cert.json --key private.pem               writes cert.json.sig
  pacband verify-signature cert.json --key public.pem
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", metavar="FILE", type=Input())
@click.option("--key", required=True, type=Input(), help="PEM file of the private Ed25519 key.")
@click.option("-o", "--output", type=Output(), help="File to save the signature to.  [default: FILE.sig]")
@click.option("--overwrite", is_flag=True, help="Replace another signature in the output file.")
def command(certificate: str, key: str, output: str | None, overwrite: bool) -> None:
    """Sign a certificate or model FILE with an Ed25519 key. The signature is in a file of its own.

    The digest in a file protects against accidents. A signature protects against people: without the private key,
    nobody can change the file, or issue another one in your name, unnoticed.
    """
    from pacband.models.signing import sign, signature_path

    if output is None:
        check_outputs([str(signature_path(certificate))])
    print_message(f"Saved {sign(certificate, key, signature=output, overwrite=overwrite)}")
