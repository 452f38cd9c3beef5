"""
New machines to come
====================

There are several rows of every machine, and the promise is about new machines. Then a machine is one draw, not a row.

Rows of one machine resemble each other. Taken for independent rows they promise more than they can keep: of 200
calibrations, far more than δ = 5 % break the promise. With the machine as the draw, no more than δ do.
"""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pacband
from pacband.draws import Units

EPS, DELTA, N_MACHINES, N_ROWS = 0.1, 0.05, 100, 20


def draw(rng, n_machines):
    """Errors of machines: half of the variance is the machine's own."""
    machine = np.repeat(np.arange(n_machines), N_ROWS)
    return np.sqrt(0.5) * (rng.standard_normal(n_machines)[machine] + rng.standard_normal(len(machine))), machine


# %%
# One calibration, with the machine as the draw.
rng = np.random.default_rng(0)
error, machine = draw(rng, N_MACHINES)
print(pacband.certify(error, 0 * error, eps=EPS, delta=DELTA, draws=Units(machine, name="machine")))

# %%
# Two hundred calibrations, with and without the machines, and 5,000 future machines to judge them. pacband warns if it
# sees that rows are not independent (PB001). Here the wrong way is taken on purpose, and the warning is switched off.
warnings.simplefilter("ignore", pacband.PromiseWarning)
future, future_machine = draw(rng, 5000)
choices = {
    "rows, as if independent": lambda machine, seed: None,
    "one row a machine": lambda machine, seed: Units(machine, "one", random_state=seed),
}
shares = {name: [] for name in choices}
for seed in range(200):
    error, machine = draw(rng, N_MACHINES)
    for name, declare in choices.items():
        gamma = pacband.certify(error, 0 * error, eps=EPS, delta=DELTA, draws=declare(machine, seed)).gamma
        shares[name].append(np.mean(np.abs(future) > gamma))

# %%
# With rows taken for independent, far more than 5 % of the calibrations break the promise.
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for name, found in shares.items():
    broken = np.mean(np.array(found) > EPS)
    print(
        f"{name}: the promise is broken in {100 * broken:.1f} % of 200 calibrations (at most {100 * DELTA:g} % allowed)"
    )
    ax.hist(found, bins=np.linspace(0, 0.2, 41), alpha=0.5, label=f"{name}: broken in {100 * broken:.0f} %")
ax.axvline(EPS, color="firebrick", label=f"promised: at most {100 * EPS:g} %")
ax.set(xlabel="share of future rows beyond the bound", ylabel="calibrations", title="200 calibrations of 100 machines")
ax.legend(frameon=False)
folder = Path("out")
folder.mkdir(exist_ok=True)
fig.savefig(folder / "new_machines.png", dpi=120)
