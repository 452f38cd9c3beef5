"""`pacband completion`, and what a shell completes."""

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(pacband, shell):
    assert "_PACBAND_COMPLETE" in pacband("completion", shell).stdout


def test_completion_knows_commands(pacband):
    words = {"_PACBAND_COMPLETE": "bash_complete", "COMP_WORDS": "pacband cert", "COMP_CWORD": "1"}
    assert "certify" in pacband(env=words).stdout
