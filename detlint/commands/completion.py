"""`detlint completion`: the code that a shell has to run to complete detlint's command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from detlint.cache.remembered import COMPLETING

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print what makes a shell complete commands, options and rules.

    \b
    bash  eval "$(detlint completion bash)"              in ~/.bashrc
    zsh   eval "$(detlint completion zsh)"               in ~/.zshrc
    fish  detlint completion fish > ~/.config/fish/completions/detlint.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(click.Command("detlint"), {}, "detlint", COMPLETING).source())
