"""A warning names the line of the user's code."""

import warnings
from pathlib import Path

import pytest

import pacband
from pacband.core.callers import caller_level

PACKAGE = str(Path(pacband.__file__).parent)


def _run(source, filename, **names):
    """Run code as if it stood in this file; return what it defines."""
    exec(compile(source, filename, "exec"), names)
    return names


@pytest.mark.parametrize("user", ["/home/me/job.py", f"{PACKAGE}_app/job.py", f"{PACKAGE}.py"])
def test_the_first_caller_outside_of_pacband_is_named(user):
    inner = "def warn():\n    warnings.warn('careful', stacklevel=caller_level())\ndef outer():\n    warn()\n"
    outer = _run(inner, f"{PACKAGE}/core/inner.py", warnings=warnings, caller_level=caller_level)["outer"]
    with pytest.warns(UserWarning, match="careful") as found:
        _run("outer()", user, outer=outer)
    assert found[0].filename == user
