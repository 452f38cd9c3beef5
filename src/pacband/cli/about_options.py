"""The options that state who issues a certificate, and what it is about."""

from __future__ import annotations

from typing import Any

import click

from pacband.cli.options import joined
from pacband.cli.output import Input

__all__ = ["about_options", "model_file_option", "read_about"]

_NAMES = ("name", "unit_of_y", "model_name", "model_version", "issued_by", "scope", "note")

about_options = joined(
    click.option("--name", help="Name of the certificate, such as that of the product or the machine."),
    click.option("--unit-of-y", help="Unit of the target. It follows the bound in the promise."),
    click.option("--model-name", help="Name of the model."),
    click.option("--model-version", help="Version of the model."),
    click.option("--issued-by", help="Person or team that issues the certificate."),
    click.option("--scope", help="Where the promise is meant to be used."),
    click.option("--note", help="Anything else that the certificate shall state."),
)
model_file_option = click.option(
    "--model-file", type=Input(), help="File of the model. Its SHA-256 identifies the model in the certificate."
)


def read_about(options: dict[str, Any], target: str | None, *, always: bool = False) -> dict[str, Any] | None:
    """Take the options of `about_options` and `model_file_option` out of `options`, and return what they state.

    The target is stated beside other things; with `always`, also alone.
    """
    given = {name: options.pop(name) for name in _NAMES}
    file = options.pop("model_file", None)
    if not always and file is None and all(text is None for text in given.values()):
        return None
    from pacband.models.digest import model_digest

    digest = None if file is None else model_digest(file)
    model = {"name": given.pop("model_name"), "version": given.pop("model_version"), "digest": digest}
    return {"target": target, "unit": given.pop("unit_of_y"), "model": model, **given}
