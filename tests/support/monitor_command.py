"""Run `pacband monitor` within this process or in one of its own."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pacband
from pacband.cli import main


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
        sys.executable, "-m", "pacband", "monitor", str(directory / "cert.json"), "--state", str(directory / "state.json"),
        *([] if "--acknowledge" in arguments else columns), *map(str, arguments),
    ]  # fmt: skip


def run(directory, *arguments, stdin=b"", **options):
    """Run the command line within this process, which spares its start."""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command(directory, *arguments, **options)[2:])
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = exit_.code or 0
    for stream in streams[1:]:
        stream.flush()
    return SimpleNamespace(returncode=code, stdout=streams[1].buffer.getvalue(), stderr=streams[2].buffer.getvalue())


def csv_rows(n_rows, y=0):
    return "y,p\n" + f"{y},0\n" * n_rows
