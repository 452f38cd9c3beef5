"""
Ten models compared
===================

All models are certified at once, and the sharpest is chosen afterwards. The promise holds all the same: each model has
a tenth of δ (Theorem 1 of the paper).
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import BayesianRidge, HuberRegressor, LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pacband

X, y = make_friedman1(4000, n_features=6, noise=1.0, random_state=0)

# %%
# A candidate is a model, or a pair of a model and a scale. ``"std"`` is the standard deviation that the model predicts.
candidates = {
    "linear": LinearRegression(),
    "huber": HuberRegressor(),
    "bayes": (BayesianRidge(), "std"),
    "splines": make_pipeline(SplineTransformer(), LinearRegression()),
    "neighbours": KNeighborsRegressor(15),
    "tree": DecisionTreeRegressor(min_samples_leaf=20, random_state=0),
    "forest": RandomForestRegressor(50, min_samples_leaf=5, random_state=0),
    "extra trees": ExtraTreesRegressor(50, min_samples_leaf=5, random_state=0),
    "boosting": HistGradientBoostingRegressor(random_state=0),
    "svr": SVR(C=10.0),
}

# %%
# One call fits all of them on one part of the rows, and certifies all of them on the other part.
family = pacband.CertifiedFamily(candidates, eps=0.1, delta=1e-3, random_state=0).fit(X, y)
print(family.certificate_)

# %%
# What does it cost to choose afterwards? A smaller rank, and so a slightly wider bound.
alone = family.certificate_.certificate
rank_alone = pacband.max_rank(alone.n_samples, alone.eps, alone.delta)
print(
    f"The price of ten candidates: rank {alone.rank} in place of {rank_alone} "
    f"for one model chosen beforehand."
)

figure, ax = plt.subplots(figsize=(7.4, 3.8), layout="constrained")
pacband.plot_family(family.certificate_, ax=ax)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/ten_models.png", dpi=150)
