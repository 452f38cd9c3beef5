"""What tests of `pacband monitor` share: its command line, a certificate, and rows."""

import numpy as np

import pacband
from support.shell import PROGRAM


def save_certificate(rng, directory):
    """Save a certificate as cert.json, and return it."""
    certificate = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    certificate.save(directory / "cert.json")
    return certificate


def write_csv(path, y, y_pred, **more):
    names = ["y", "p", *more]
    columns = [
        [f"{value:.6g}" if isinstance(value, float) else value for value in column]
        for column in (y, y_pred, *more.values())
    ]
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def command(directory, *arguments, columns=("--target", "y", "--prediction", "p")):
    return [
        *PROGRAM, "monitor", str(directory / "cert.json"), "--state", str(directory / "state.json"),
        *([] if "--acknowledge" in arguments else columns), *map(str, arguments),
    ]  # fmt: skip


def csv_rows(n_rows, y=0):
    return "y,p\n" + f"{y},0\n" * n_rows
