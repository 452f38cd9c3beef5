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
    offset, noise = rng.standard_normal(n_machines), rng.standard_normal(len(machine))
    return np.sqrt(0.5) * (offset[machine] + noise), machine


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
        draws = declare(machine, seed)
        gamma = pacband.certify(error, 0 * error, eps=EPS, delta=DELTA, draws=draws).gamma
        shares[name].append(np.mean(np.abs(future) > gamma))

# %%
# With rows taken for independent, far more than 5 % of the calibrations break the promise.
figure, ax = plt.subplots(figsize=(7.4, 3.6), layout="constrained")
for (name, found), color in zip(shares.items(), ("#c04a00", "#0072b2"), strict=True):
    broken = np.mean(np.array(found) > EPS)
    label = f"{name}: broken in {100 * broken:.3g} %"
    print(f"{label} of 200 calibrations (at most {100 * DELTA:g} % allowed)")
    ax.hist(found, bins=np.linspace(0, 0.15, 31), color=color, alpha=0.6, label=label)
ax.axvline(EPS, color="black", linewidth=1.2)
ax.annotate(
    f" promised: at most {100 * EPS:g} %",
    (EPS, 0.94),
    xycoords=("data", "axes fraction"),
)
ax.set_title(
    "200 calibrations with 100 machines each",
    loc="left",
    fontsize=10.5,
    fontweight="bold",
)
ax.set(xlabel="share of future rows beyond the bound", ylabel="calibrations", xlim=(0, 0.15))
ax.set_ylim(0, 1.45 * ax.get_ylim()[1])
ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g} %")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
folder = Path("out")
folder.mkdir(exist_ok=True)
figure.savefig(folder / "new_machines.png", dpi=150)
