"""``pacband predict``: predict with a saved model, band and all."""

from __future__ import annotations

import glob
import shlex
from typing import Any

import click

from pacband.cli.console import fail, note, print_json, progress_bar
from pacband.cli.output import TABLES, Input, Output

EXAMPLES = """
\b
Examples:
  pacband predict model.pacband new.csv                      to standard output, as CSV
  pacband predict model.pacband new.parquet -o bands.parquet
  pacband predict model.pacband new.csv --lower low --upper high -o bands.csv
  cat new.csv | pacband predict model.pacband - --trust lightgbm.LGBMRegressor
"""
_CHANGED = "the rows were read in another order the second time: has the file changed meanwhile?"


@click.command(epilog=EXAMPLES)
@click.argument("model", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option(
    "-o",
    "--output",
    type=Output(TABLES, stdout=True),
    default="-",
    show_default=True,
    help="Where to write, CSV or Parquet; - is standard output.",
)
@click.option("--prediction", default="prediction", show_default=True, help="What to call the prediction.")
@click.option("--lower", default="lower", show_default=True, help="What to call the lower end of the band.")
@click.option("--upper", default="upper", show_default=True, help="What to call the upper end of the band.")
@click.option("--candidate", help="Predict with this candidate of a family.  [default: the sharpest]")
@click.option("--trust", multiple=True, metavar="TYPE", help="Load this type, which cannot be checked; repeatable.")
@click.option("--max-bytes", type=int, help="The memory that the model may take.  [default: 1073741824]")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON; needs an output file.")
def command(
    model: str,
    files: tuple[str, ...],
    output: str,
    prediction: str,
    lower: str,
    upper: str,
    candidate: str | None,
    trust: tuple[str, ...],
    max_bytes: int | None,
    as_json: bool,
) -> None:
    """Add the prediction and its certified band to the rows of CSV or Parquet FILES.

    Rows and their other columns stay as they are, in their order. Columns are matched by name. A model file is data,
    and is checked. Only one that was saved with types that cannot be checked needs --trust, for loading such a type may
    run code of its package; without it the command lists them and ends with exit code 2.
    """
    if as_json and output == "-":
        raise click.UsageError("--json needs an output file, for standard output has the rows.")
    from pacband.tables.files import open_files

    names = {"prediction": prediction, "lower": lower, "upper": upper}
    if len(set(names.values())) != 3:
        raise click.UsageError(f"the new columns need names of their own, got {', '.join(names.values())}.")
    with open_files(files) as found, found.writing(output), found.reading():
        estimator, kinds = open_estimator(model, trust, max_bytes)
        rows = write_predictions(estimator, kinds, found.relation(), names, candidate, output)
    if as_json:
        print_json({"model": model, "output": output, "rows": rows})
    elif output != "-":
        note(f"Saved {output}")


def open_estimator(
    model: str, trust: tuple[str, ...], max_bytes: int | None = None
) -> tuple[Any, dict[str, str | None]]:
    """Return the estimator of a model file, and the kinds of its columns: None where the file does not state one."""
    from pacband.estimators.files import open_model
    from pacband.models.trust import UntrustedTypes

    try:
        limit = {} if max_bytes is None else {"max_bytes": max_bytes}
        estimator, columns = open_model(model, trusted=trust, **limit)
    except UntrustedTypes as error:
        needed = " ".join(f"--trust {shlex.quote(name)}" for name in error.types)
        fail(
            f"{model} holds {len(error.types)} type(s) that pacband cannot check. If you trust the packages they "
            f"belong to, and the file, add {needed}"
        )
    if not hasattr(estimator, "predict_interval"):
        fail(f"{model} is a certificate, not a model: `pacband apply` adds its band to predictions.")
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        fail(f"{model} was fitted without names of columns: fit it on a dataframe to use it on files.")
    return estimator, {str(name): columns.get(str(name)) for name in known}


def write_predictions(
    estimator: Any,
    kinds: dict[str, str | None],
    relation: Any,
    names: dict[str, str],
    candidate: str | None,
    output: str,
) -> int:
    """Predict in batches, and write the rows with what was predicted; return how many."""
    from pacband.exceptions import InvalidInput
    from pacband.tables.connection import connect, literal, quoted, workspace
    from pacband.tables.files import write_table
    from pacband.tables.survey import batches, check_kinds, find_columns, inputs_sql, match_groups, row_hash_sql

    find_columns(relation, list(kinds))
    texts = not estimator.reads_categories
    columns_sql = inputs_sql(relation, check_kinds(relation, kinds, texts=texts), texts=texts)
    ((total,),) = relation.aggregate("count(*)").fetchall()
    options = {} if candidate is None else {"candidate": candidate}
    done = 0
    with workspace() as folder, progress_bar("Predicting") as progress:
        # On disk, so that memory does not grow with the rows.
        with connect() as store:
            for batch in batches(relation, f"{columns_sql}, {row_hash_sql(kinds)} as pacband_row"):
                rows = batch.pop("pacband_row")
                match_groups(estimator, batch)
                bands = estimator.predict_interval(batch, output="frame", **options)
                bands.columns = [_called(name, names) for name in bands.columns]
                if not done:
                    for name in set(bands.columns) & set(relation.columns):
                        raise InvalidInput(f"the table has a column {name!r} already: call the new one otherwise.")
                    columns = [quoted(name) for name in bands.columns]
                bands["pacband_row"] = rows
                store.register("batch", bands)
                store.execute(f"copy (from batch) to {literal(f'{folder}/{done:012}.parquet')}")
                store.unregister("batch")
                done += len(batch)
                progress(done, total)
        # What is read once need not be kept.
        with connect(enable_external_file_cache="false") as connection:
            # A band beside a row it was not made for would be worse than none: so this is made sure of.
            made = literal(f"{glob.escape(folder)}/*.parquet")
            same = f"{row_hash_sql(kinds, of='t.')} = b.pacband_row"
            joined = connection.sql(
                f"select t.*, {', '.join(f'b.{name}' for name in columns)} from ({relation.sql_query()}) t "
                f"positional join read_parquet({made}) b where case when {same} then true else error('{_CHANGED}') end"
            )
            write_table(joined, output)
    return done


def _called(name: str, names: dict[str, str]) -> str:
    """Return the name of a column as the user calls it; with several outputs it is followed by a number."""
    kind, _, number = name.partition("_")
    return f"{names[kind]}_{number}" if number else names[kind]
