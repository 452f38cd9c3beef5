"""Run the benchmarks, all or those named."""

from __future__ import annotations

import argparse
import os
import platform
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks._record import print_and_keep, save_record

NAMES = (
    "planning",
    "certify",
    "checks",
    "start_up",
    "local_models",
    "sharpness",
    "budgets",
    "excess",
    "peers",
    "predicting",
    "tables",
    "monitoring",
    "reporting",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="pacband beside its peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which to run, of {', '.join(NAMES)}; all by default")
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes and fewer repeats: a smoke test, not a result"
    )
    parser.add_argument(
        "--save", type=Path, metavar="FOLDER", help="also write FOLDER/NAME.json, with machine, versions and date"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(NAMES)}.")

    print(f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, numpy {np.__version__}")
    for name in arguments.names or NAMES:
        print(f"\n=== {name} ===")
        if find_spec(f"benchmarks.{name}") is None:
            print("not here: skipped.")
            continue
        start = time.perf_counter()
        module = import_module(f"benchmarks.{name}")
        with print_and_keep() as kept:
            module.main(quick=arguments.quick)
        seconds = time.perf_counter() - start
        print(f"({name} took {seconds:.0f} s)")
        if arguments.save is not None:
            about, text = module.__doc__ or "", kept.getvalue()
            path = save_record(arguments.save, name, about=about, text=text, seconds=seconds, quick=arguments.quick)
            print(f"Saved {path}")


if __name__ == "__main__":
    main()
