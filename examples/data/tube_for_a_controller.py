"""
A tube for a controller
=======================

A model-predictive controller keeps a distance to the wall: as much as its plan may be wrong.

A trolley shall stop at a wall, as close as possible, and never touch it. The controller plans 40 steps ahead with a
model, and feedback keeps the trolley near the plan. Wind pushes the trolley away from it: gusts last several steps, and
some days have more wind than others. A plan that ends at the wall hits it in most runs.

The promise is about whole runs: with confidence 99.9 %, at least 95 % of future runs stay in the tube in every step.
The controller plans with the wall moved by the tube. Bounds that hold at each step in 95 % of the runs are not enough:
another run leaves them at another step.

The trolley is linear, so the error of the prediction does not depend on the plan. A tube that was calibrated with one
plan holds for every other. For a plant that is not linear, calibrate with the plans of the controller that will run.
Runs must be independent: windows that slide over one long run are not.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import pacband
from pacband.scale import HorizonScale

H, WALL, EPS, DELTA = 40, 10.0, 0.05, 1e-3
# The state is position and velocity; the input is a force.
A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([0.005, 0.1])
FEEDBACK = np.array([4.0, 3.0])
rng = np.random.default_rng(7)


def states(force, start=(0.0, 0.0)):
    """Return the states that the model predicts after each step."""
    state, found = np.array(start), []
    for push in force:
        state = A @ state + B * push
        found.append(state)
    return np.array(found)


# %%
# The controller. The positions are linear in the forces: a later force has the effect of an earlier one, some steps
# later.
first = states(np.eye(H)[0])[:, 0]
RESPONSE = np.array([np.concatenate([np.zeros(k), first[: H - k]]) for k in range(H)]).T


def plan(wall):
    """Return the forces that drive the trolley to the real wall; the plan stays behind `wall`."""
    quadratic, linear = RESPONSE.T @ RESPONSE + 1e-3 * np.eye(H), RESPONSE.T @ np.full(H, WALL)
    found = minimize(
        lambda force: 0.5 * force @ quadratic @ force - linear @ force,
        np.zeros(H),
        jac=lambda force: quadratic @ force - linear,
        bounds=[(-8.0, 8.0)] * H,
        constraints={
            "type": "ineq",
            "fun": lambda force: wall - RESPONSE @ force,
            "jac": lambda _: -RESPONSE,
        },
        method="SLSQP",
        options={"maxiter": 500},
    )
    assert found.success, found.message
    return found.x


# %%
# The plant: a trolley in the wind.


def drive(force, n_runs):
    """Return the positions of runs with wind, shape (n, H): feedback follows the plan."""
    predicted = states(force)
    strength = rng.gamma(4.0, 0.1, n_runs)  # the wind of the day
    state, gust, before = np.zeros((n_runs, 2)), np.zeros(n_runs), np.zeros(2)
    positions = np.empty((n_runs, H))
    for t in range(H):
        gust = 0.8 * gust + strength * rng.standard_normal(n_runs)
        push = force[t] - (state - before) @ FEEDBACK
        state = state @ A.T + np.outer(push + gust, B)
        before = predicted[t]
        positions[:, t] = state[:, 0]
    return positions


# %%
# Runs with the plan that ignores the wind: some to learn the shape of the tube, others to calibrate it.
careless = plan(np.full(H, WALL))
predicted = states(careless)[:, 0]
training, calibration = drive(careless, 200), drive(careless, 1000)
scale = HorizonScale().fit(training, np.broadcast_to(predicted, training.shape))
shape = scale.predict(predicted[None])
certificate = pacband.certify(
    calibration[..., None],
    np.broadcast_to(predicted, calibration.shape)[..., None],
    np.broadcast_to(shape, calibration.shape),
    side="upper",
    eps=EPS,
    delta=DELTA,
)
print(certificate)
margin = certificate.tube(predicted[None], shape)[0, :, 1] - predicted
each_step = np.quantile(calibration - predicted, 1 - EPS, axis=0)

# %%
# What happens in 5,000 future runs, with the wall as it is, moved by bounds for each step, and moved by the tube.
plans = {"no margin": np.zeros(H), "95 % at each step": each_step, "certified tube": margin}
forces = {name: plan(WALL - moved) for name, moved in plans.items()}
print(f"runs that touch the wall (at most {EPS:.0%} promised with the tube)")
touched = {}
for name, force in forces.items():
    future = drive(force, 5000)
    touched[name] = float(np.mean((future > WALL).any(axis=1)))
    distance = WALL - future[:, -1].mean()
    print(f"  {name:<18} {touched[name]:6.1%}   mean distance at the end {distance:.3f}")
fresh = drive(forces["certified tube"], 2000)
nominal = np.broadcast_to(states(forces["certified tube"])[:, 0], fresh.shape)
scales = np.broadcast_to(shape, fresh.shape)
print(pacband.check(certificate, fresh[..., None], nominal[..., None], scales))

# %%
# Sixty runs with each of two plans. Those that touch the wall are red.
figure = plt.figure(figsize=(9.6, 3.8), layout="constrained")
times = 0.1 * np.arange(1, H + 1)
axes = figure.subplots(1, 2, sharey=True)
for ax, name in zip(axes, ("no margin", "certified tube"), strict=True):
    runs, centre = drive(forces[name], 60), states(forces[name])[:, 0]
    for run in runs:
        hit = (run > WALL).any()
        color, alpha = ("#c04a00", 0.8) if hit else ("#6e7781", 0.4)
        ax.plot(times, run, color=color, linewidth=0.7, alpha=alpha)
    if name == "certified tube":
        tube = centre, centre + margin
        ax.fill_between(times, *tube, color="#0072b2", alpha=0.25, linewidth=0, label="tube")
    ax.plot(times, centre, color="#1b1f24", linewidth=1.4, label="plan")
    ax.axhline(WALL, color="#c04a00", linewidth=1.4, linestyle="--", label="wall")
    title = f"{name}: {100 * touched[name]:.1f} % of runs touch the wall"
    ax.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    ax.set_xlabel("time in s")
    ax.set_xlim(1.4, times[-1])
    ax.set_ylim(8.6, 10.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")
figure.axes[0].set_ylabel("position")
folder = Path("out")
folder.mkdir(exist_ok=True)
figure.savefig(folder / "tube_for_a_controller.png", dpi=130)
print(f"Figure: {folder / 'tube_for_a_controller.png'}")
