"""Warnings of a command, in one line each."""

import warnings

from pacband.cli.warnings import plain_warnings


def test_a_warning_is_printed_once_in_the_words_of_the_shell(capsys):
    with plain_warnings():
        for text in ("declare a min_scale", "declare a min_scale", "another"):
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn(text, stacklevel=1)
    assert capsys.readouterr().err == "Warning: declare --min-scale\nWarning: another\n"
    with plain_warnings():
        warnings.simplefilter("always")
        warnings.warn("another", stacklevel=1)
    assert capsys.readouterr().err == "Warning: another\n"
