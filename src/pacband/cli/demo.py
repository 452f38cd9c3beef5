"""``pacband demo``: the paper's example from start to end."""

from __future__ import annotations

from pathlib import Path

import click

from pacband.cli.console import fail, print_result, print_text, progress_bar
from pacband.cli.options import SEED, is_given
from pacband.cli.output import check_outputs

EXAMPLES = """
\b
Examples:
  # writes two files to the folder pacband-demo
  pacband demo
  pacband demo --folder /tmp/demo --seed 7
"""
EPS, DELTA = 0.05, 1e-6
FILES = ("certificate.json", "report.html")


@click.command(epilog=EXAMPLES)
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    default="pacband-demo",
    show_default=True,
    help="Folder to write the certificate and the report to. It is created if it does not exist. Files in a folder "
    "that you name are not replaced.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the simulated data.")
def command(folder: str, seed: int) -> None:
    """Run the paper's example: plan, fit ten models, certify them together, test the promise, write a report.

    The data are y = (10 + n1) x + 10 sin(4 x) + 5 + n2 with noise n1 and n2. The error grows with |x|, and so does the
    band.
    """
    import pacband
    from pacband import CertifiedFamily, LocalKernelRidge, datasets

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    check_outputs(str(target / name) for name in FILES)
    for name in FILES:
        if is_given("folder") and (target / name).exists():
            fail(f"{target / name} exists: name a folder without such a file.")
    print_text("1. Plan")
    print_result(pacband.plan(EPS, DELTA, n_candidates=10))

    X, y = datasets.paper_sample(2065, random_state=seed)
    X_cal, y_cal = datasets.paper_sample(2407, random_state=seed + 1)
    with progress_bar("fitting ten local kernel models") as progress:
        family = CertifiedFamily.from_grid(
            LocalKernelRidge("rbf", gamma=5.0, alpha=0.02),
            {"decay": range(1, 11)},
            eps=EPS,
            delta=DELTA,
            progress=progress,
        ).fit(X, y, calibration=(X_cal, y_cal))
    certificate = family.certificate_
    assert isinstance(certificate, pacband.FamilyCertificate)
    print_text("\n2. Certify ten models together, and choose the sharpest")
    print_result(certificate)

    X_new, y_new = datasets.paper_sample(2065, random_state=seed + 2)
    prediction, scale = family.estimators_[family.best_name_].predict(X_new, return_std=True)
    verdict = pacband.check(certificate, y_new, prediction, scale)
    print_text(f"\n3. Test the promise on {len(y_new)} new rows\n{verdict}\n")

    certificate.save(target / "certificate.json")
    prediction, scale = family.estimators_[family.best_name_].predict(X_cal, return_std=True)
    page = pacband.report(
        certificate,
        y_cal,
        prediction,
        scale,
        X=X_cal,
        feature_names=["x"],
        training=(X, y),
        command="pacband demo",
    )
    page.save(target / "report.html")
    print_text(
        f"4. Read the results\nCertificate: {target / 'certificate.json'}\nReport:      {target / 'report.html'}"
    )
