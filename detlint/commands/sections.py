"""Commands of click whose help lists the options by purpose, in one screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

_COLUMN = 23  # the column where the help of an option begins


class Sectioned(click.Command):
    """A command whose options are listed in sections."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        """Take the options, as `--name`, by section title; --help goes last without being named."""
        super().__init__(*args, **kwargs)
        self._sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options. Raises KeyError for an option that is in no section or does not exist."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {option.opts[0]: _record(option, ctx) for option in options}
        parts = {title: [records.pop(name) for name in names] for title, names in self._sections.items()}
        *_, last = parts.values()
        last += [records.pop(name) for name in ctx.help_option_names[:1]]
        if records:
            raise KeyError(f"options in no section: {', '.join(records)}")
        formatter.write_paragraph()
        for title, rows in parts.items():
            formatter.write(f"{title}:\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(_COLUMN - 4), text) for name, text in filter(None, rows)])


def _record(option: click.Option, ctx: click.Context) -> tuple[str, str] | None:
    """Return the help row of an option under its first name and letter; None if it is hidden.

    Other names are for those who know them from elsewhere.
    """
    record = option.get_help_record(ctx)
    if record is None:
        return None
    long = [name for name in option.opts if name.startswith("--")]
    return record[0].replace("".join(f", {name}" for name in long[1:]), ""), record[1]
