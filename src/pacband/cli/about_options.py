"""The options that state who issues a certificate, and what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pacband.cli.options import joined
from pacband.cli.output import Input

if TYPE_CHECKING:
    from pacband.certificate import About

__all__ = ["about_options", "model_file_option", "read_about", "renew_about"]

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
    return {"target": _as_description(target), "unit": given.pop("unit_of_y"), "model": model, **given}


def _as_description(column: str | None) -> str | None:
    """Return the name of a column as what is predicted; None if it is no text that a certificate can state."""
    from pacband.certificate.about import About
    from pacband.exceptions import InvalidInput

    try:
        return About(target=column).target
    except InvalidInput:
        return None


def renew_about(options: dict[str, Any], before: About, *, same_model: bool) -> About:
    """Take the same options out of `options`, and return what a successor states: what they name, else as `before`.

    Unless it is the same model, the version is kept only if --model-file has the digest that `before` states.
    """
    from dataclasses import fields, replace

    from pacband.certificate.about import AboutModel, as_about

    given = as_about(read_about(options, None))
    model, known = given.model or AboutModel(), before.model or AboutModel()
    if not same_model and (model.digest is None or model.digest != known.digest):
        known = AboutModel(name=known.name)
    texts = {field.name: getattr(given, field.name) for field in fields(given) if field.name != "model"}
    stated = {field.name: getattr(model, field.name) for field in fields(model)}
    return replace(
        before,
        model=replace(known, **{name: text for name, text in stated.items() if text is not None}),
        **{name: text for name, text in texts.items() if text is not None},
    )
