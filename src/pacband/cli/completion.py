"""``pacband completion``: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

from pacband.cli.console import print_text

EXAMPLES = """
\b
Examples:
  pacband completion bash >> ~/.bashrc
  pacband completion zsh >> ~/.zshrc
  pacband completion fish > ~/.config/fish/completions/pacband.fish
"""


@click.command(epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes the commands and options of pacband in a shell."""
    from click.shell_completion import get_completion_class

    from pacband.cli import pacband

    script = get_completion_class(shell)
    if script is None:
        raise click.ClickException(f"there is no completion for {shell}.")
    print_text(script(pacband, {}, "pacband", "_PACBAND_COMPLETE").source())
