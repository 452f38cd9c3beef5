"""
An hourly forecast
==================

A forecast with a horizon of 24 hours: three promises about one series, and what each of them says.

Every midnight a forecaster predicts the demand of the next 24 hours. The errors of one day resemble each other, and so
do, a little, those of neighbouring days. Rows of such a series are not independent, and a promise that takes them for
independent is broken far too often. What is one draw instead? Three answers, each with its own promise:

- a day: at least 90 % of future days stay within the box in all 24 hours;
- an hour: at least 90 % of future hours stay within one bound;
- an hour of a given lead time: at least 90 % of future hours, for each of the 24 lead times.

Days that are four apart are taken for independent. That is declared, not estimated.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pacband
from pacband.draws import Spaced

OUT = Path("out")
EPS, DELTA, HORIZON, GAP = 0.1, 0.05, 24, 4
LEADS = np.arange(1, HORIZON + 1)
rng = np.random.default_rng(5)


def simulate(n_days):
    """Return the errors of the forecasts, one row a day and one column a lead time.

    The demand deviates from its profile by x, an autoregression with factor 0.95 an hour. The
    forecaster believes in 0.9.
    """
    noise = rng.standard_normal(n_days * HORIZON)
    x = np.empty_like(noise)
    value = 0.0
    for hour, shock in enumerate(noise):
        value = 0.95 * value + shock
        x[hour] = value
    days = x.reshape(n_days, HORIZON)
    return days[1:] - 0.9**LEADS * days[:-1, -1:]


# %%
# Two years make the profile of the errors, and eight other years calibrate.
training, errors = simulate(730), simulate(2920)
zero = np.zeros_like(errors)
# The size of the errors by lead time is from other days. A bad profile makes wider bounds.
profile = np.broadcast_to(training.std(axis=0), errors.shape)

# %%
# The three promises.
promise = {"eps": EPS, "delta": DELTA}
box = pacband.certify(errors, zero, profile, **promise, draws=Spaced(GAP))
# Four days and one hour: all lead times get their turn.
every = Spaced(GAP * HORIZON + 1)
hours = pacband.certify(errors.ravel(), zero.ravel(), **promise, draws=every)
by_lead = [
    pacband.certify(error, 0 * error, n_candidates=HORIZON, **promise, draws=Spaced(GAP))
    for error in errors.T
]
print(f"A day is a draw ({box.n_samples} days of {len(errors)}):\n{box}\n")
print(f"An hour is a draw ({hours.n_samples} hours of {errors.size}):\n{hours}\n")
print(f"Lead time 24 h, one of 24 promises that hold at once:\n{by_lead[-1].promise}")

# %%
# What they say about 20,000 future days. Each promise limits one of the columns to 10 %.
bounds = {
    "all hours of a day": box.gamma * profile[0],
    "any hour": np.full(HORIZON, hours.gamma),
    "each lead time": np.array([cert.gamma for cert in by_lead]),
}
future = np.abs(simulate(20_000))
print("share outside       days   hours   hours of the worst lead time")
for name, bound in bounds.items():
    outside = future > bound
    worst = outside.mean(axis=0).max()
    print(f"{name:<18} {outside.any(axis=1).mean():5.1%}  {outside.mean():6.1%}  {worst:6.1%}")

# %%
# The wrong answer, for comparison: a month and a half of hours, each taken for a draw of its own.
broken = 0
for _ in range(200):
    month = simulate(46).ravel()
    gamma = np.sort(np.abs(month))[-pacband.max_rank(len(month), EPS, DELTA)]
    broken += np.mean(future > gamma) > EPS
print(
    f"Rows taken for independent: broken in {broken / 200:.0%} of 200 calibrations "
    f"(at most {DELTA:.0%} allowed)"
)

# %%
# The bounds over the lead time.
OUT.mkdir(exist_ok=True)
figure = plt.figure(figsize=(7.4, 3.8), layout="constrained")
ax = figure.subplots()
ax.plot(LEADS, future[:80].T, color="0.8", linewidth=0.6)
for (name, bound), color in zip(bounds.items(), ("#0072b2", "#c04a00", "#009e73"), strict=True):
    ax.plot(LEADS, bound, color=color, linewidth=2.0, label=f"{name}, 90 %")
ax.set_title("Three promises about one forecaster", loc="left", fontsize=10.5, fontweight="bold")
ax.set_xlabel("lead time in hours (grey: 80 future days)")
ax.set_ylabel("|error|")
ax.set_xlim(1, HORIZON)
ax.set_ylim(0, None)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
figure.savefig(OUT / "hourly_forecaster.png", dpi=150)
print(f"Figure: {OUT / 'hourly_forecaster.png'}")
