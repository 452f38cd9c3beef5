"""Ten models compared: all certified at once, the sharpest chosen afterwards, and the promise still holds."""

from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge, HuberRegressor, LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pacband

X, y = make_friedman1(4000, n_features=6, noise=1.0, random_state=0)

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
family = pacband.CertifiedFamily(candidates, eps=0.1, delta=1e-3, random_state=0).fit(X, y)
print(family.certificate_)

alone = family.certificate_.certificate
rank_alone = pacband.max_rank(alone.n_samples, alone.eps, alone.delta)
print(f"\nThe price of ten candidates: rank {alone.rank} in place of {rank_alone} for one model chosen beforehand.")
