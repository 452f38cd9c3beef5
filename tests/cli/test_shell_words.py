"""Errors name options of the command line, not arguments of Python functions."""

import pytest

from pacband.cli.shell_words import cure_in_shell_words, in_shell_words


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("got n_samples=100. These samples can promise eps=0.13", "got 100. These samples can promise --eps 0.13"),
        ("Declare a min_scale to put a floor", "Declare --min-scale to put a floor"),
        ("With nonfinite='violate' they count", "With --nonfinite violate they count"),
        ("y and y_pred must have the same shape", "y and the prediction must have the same shape"),
        ("pass draws=Units(labels, within='all').", "pass --unit COLUMN --within all."),
        ("pass draws=Units(labels, within=0.99).", "pass --unit COLUMN --within 0.99."),
        (
            "machine 'm1' was already counted: pass the rows of one machine after the other, or name the complete machines with complete.",
            "machine 'm1' was already counted: sort the file by machine.",
        ),
        ("calibration_size must be a share", "--calibration-size must be a share"),
        ("load it with max_bytes=303968.", "load it with --max-bytes 303968."),
        ("time_budget must be a positive finite number", "--time-budget must be a positive finite number"),
        ("the column 'my_y_predicted' is missing", "the column 'my_y_predicted' is missing"),
        ("the table's column 'y_pred' is missing", "the table's column 'y_pred' is missing"),
        ("a group \"rank=1\" of 'min_scale'", "a group \"rank=1\" of 'min_scale'"),
        ("delta / n_candidates must be at least", "delta / the number of candidates must be at least"),
    ],
)
def test_words(message, words):
    assert in_shell_words(message) == words


def test_a_finding_keeps_the_names_of_columns():
    text = (
        "PB003 rows of one y_pred resemble each other. Use draws=pacband.draws.Units('y_pred') if new ones are to come."
    )
    words = "PB003 rows of one y_pred resemble each other. Use --unit y_pred if new ones are to come."
    assert cure_in_shell_words(text) == words


def test_a_command_uses_them(pacband, tmp_path):
    (tmp_path / "data.csv").write_text("y,p\n" + "1,2\n" * 10)
    done = pacband("certify", "data.csv", "--target", "y", "--prediction", "p")
    assert done.returncode == 2
    assert done.stderr.startswith("pacband: --eps 0.05 and --delta 1e-06 need at least 270 samples at rank 1, got 10.")
