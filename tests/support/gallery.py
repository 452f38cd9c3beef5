"""One small fitted model, or more, of every kind that a model file may hold."""

from functools import cache

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix
from sklearn import linear_model
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_transformer
from sklearn.cross_decomposition import CCA, PLSSVD, PLSCanonical, PLSRegression
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_selection import (
    RFE,
    RFECV,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_regression,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    LarsCV,
    Lasso,
    LassoCV,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    PoissonRegressor,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    RidgeCV,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVR, LinearSVR, NuSVR
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from pacband import LocalKernelRidge, LocalRidge, scale
from pacband.candidates.defaults import LogOfStandardised
from pacband.candidates.reader import TableReader
from pacband.candidates.ridge import LeaveOneOutRidge
from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.stack import Averaged, Band, Stack
from pacband.candidates.windows import ShortestWindow
from pacband.scale.shrinkage import Shrinkage

N = 60
RNG = np.random.default_rng(3)
PLAIN = RNG.normal(size=(N, 3))
GAPS = np.where(RNG.uniform(size=(N, 3)) < 0.1, np.nan, PLAIN)
CODES = np.rint(np.abs(2.0 * PLAIN))
LINE = PLAIN[:, :1].copy()
FRAME = pd.DataFrame({"a": PLAIN[:, 0], "b": GAPS[:, 1], "site": np.where(PLAIN[:, 2] > 0, "north", "süd")})
SPARSE = csr_array(PLAIN * (PLAIN > 0))
OLD_SPARSE = csr_matrix(PLAIN * (PLAIN > 0))
Y = PLAIN[:, 0] + (0.2 + np.abs(PLAIN[:, 1])) * RNG.normal(size=N)
TWO = np.c_[Y, Y[::-1]]


def hist(**options):
    """Return histogram boosting that is quick to fit."""
    return HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5, random_state=0, **options)


def before(*steps):
    """Return a linear model behind these steps."""
    return make_pipeline(*steps, Ridge())


def _table():
    return make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["a", "b"]),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["site"]),
    )


def _stack():
    reader = TableReader().fit(FRAME)
    table = reader.transform(FRAME)
    linear = make_pipeline(SimpleImputer(), RidgeCV(np.logspace(-2, 2, 5))).fit(table, Y)
    boosted = [hist(categorical_features=[2]).fit(table, Y), hist().fit(table, Y)]
    stack = Stack(reader, {"linear": linear, "mean": Averaged(boosted)}, np.array([0.25, 0.75]), 0.5, 2.0, {})
    meta = np.zeros((N, table.shape[1] + 4))
    meta[:, 0] = PLAIN[:, 0]
    stack.scales["trees"] = ExtraTreesRegressor(2, random_state=0).fit(meta, np.abs(Y))
    stack.scales["window"] = ShortestWindow(ExtraTreesRegressor(2, random_state=0), 0.9).fit(meta, Y)
    shrinkage = Shrinkage.fit(np.abs(PLAIN[:, 0]), Y, floor=1e-9)
    weights = np.array([0.5, 0.5])
    return Band(stack, weights, towards_window=0.5, signals=(("trees", 1.5), ("window", 0.7)), shrinkage=shrinkage)


CASES = {
    "LinearRegression": lambda: LinearRegression().fit(PLAIN, Y),
    "LinearRegression of two": lambda: LinearRegression(positive=True).fit(PLAIN, TWO),
    "LinearRegression of a frame": lambda: LinearRegression().fit(FRAME[["a"]], Y),
    "Ridge": lambda: Ridge(fit_intercept=False).fit(PLAIN, TWO),
    "Ridge by sag": lambda: Ridge(solver="sag", random_state=np.random.RandomState(0)).fit(PLAIN, Y),
    "RidgeCV": lambda: RidgeCV([0.1, 1.0], store_cv_results=True).fit(PLAIN, Y),
    "RidgeCV by folds": lambda: RidgeCV((0.1, 1.0), cv=KFold(3, shuffle=True, random_state=0)).fit(PLAIN, Y),
    "RidgeCV of two": lambda: RidgeCV((0.1, 1.0), alpha_per_target=True).fit(PLAIN, TWO),
    "ARDRegression": lambda: ARDRegression(compute_score=True).fit(PLAIN, Y),
    "BayesianRidge": lambda: BayesianRidge(compute_score=True).fit(PLAIN, Y),
    "ElasticNet": lambda: ElasticNet(0.1).fit(PLAIN, Y),
    "ElasticNet of sparse rows": lambda: ElasticNet(0.1).fit(SPARSE, Y),
    "ElasticNet of two": lambda: ElasticNet(0.1).fit(PLAIN, TWO),
    "ElasticNetCV": lambda: ElasticNetCV(alphas=5, cv=3).fit(PLAIN, Y) if _new() else ElasticNetCV(cv=3).fit(PLAIN, Y),
    "Lasso": lambda: Lasso(0.1).fit(PLAIN, Y),
    "LassoCV": lambda: LassoCV(cv=3).fit(PLAIN, Y),
    "MultiTaskElasticNet": lambda: MultiTaskElasticNet(0.1).fit(PLAIN, TWO),
    "MultiTaskElasticNetCV": lambda: MultiTaskElasticNetCV(cv=3).fit(PLAIN, TWO),
    "MultiTaskLasso": lambda: MultiTaskLasso(0.1).fit(PLAIN, TWO),
    "MultiTaskLassoCV": lambda: MultiTaskLassoCV(cv=3).fit(PLAIN, TWO),
    "GammaRegressor": lambda: GammaRegressor().fit(PLAIN, np.exp(Y)),
    "PoissonRegressor": lambda: PoissonRegressor().fit(PLAIN, np.exp(Y)),
    "TweedieRegressor": lambda: TweedieRegressor(power=1.5).fit(PLAIN, np.exp(Y)),
    "TweedieRegressor, normal": lambda: TweedieRegressor(power=0).fit(PLAIN, Y),
    "HuberRegressor": lambda: HuberRegressor().fit(PLAIN, Y),
    "Lars": lambda: Lars().fit(PLAIN, Y),
    "Lars of two": lambda: Lars().fit(PLAIN, TWO),
    "LarsCV": lambda: LarsCV(cv=3).fit(PLAIN, Y),
    "LassoLars": lambda: LassoLars(0.01).fit(PLAIN, Y),
    "LassoLarsCV": lambda: LassoLarsCV(cv=3).fit(PLAIN, Y),
    "LassoLarsIC": lambda: LassoLarsIC().fit(PLAIN, Y),
    "OrthogonalMatchingPursuit": lambda: OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(PLAIN, Y),
    "OrthogonalMatchingPursuitCV": lambda: OrthogonalMatchingPursuitCV(cv=3).fit(PLAIN, Y),
    "QuantileRegressor": lambda: QuantileRegressor(alpha=0.01).fit(PLAIN, Y),
    "RANSACRegressor": lambda: RANSACRegressor(LinearRegression(), random_state=0).fit(PLAIN, Y),
    "SGDRegressor": lambda: SGDRegressor(random_state=0).fit(PLAIN, Y),
    "SGDRegressor averaged": lambda: SGDRegressor(average=True, early_stopping=True, random_state=0).fit(PLAIN, Y),
    "TheilSenRegressor": lambda: TheilSenRegressor(random_state=0, max_subpopulation=50).fit(PLAIN, Y),
    "DummyRegressor": lambda: DummyRegressor(strategy="quantile", quantile=0.3).fit(PLAIN, Y),
    "DummyRegressor of two": lambda: DummyRegressor(strategy="constant", constant=[1.0, 2.0]).fit(PLAIN, TWO),
    "IsotonicRegression": lambda: IsotonicRegression(out_of_bounds="clip").fit(LINE, Y),
    "KernelRidge": lambda: KernelRidge(kernel="rbf", gamma=0.5).fit(PLAIN, TWO),
    "KernelRidge of sparse rows": lambda: KernelRidge(kernel="laplacian").fit(OLD_SPARSE, Y),
    "CCA": lambda: CCA(1).fit(PLAIN, TWO),
    "PLSCanonical": lambda: PLSCanonical(1).fit(PLAIN, TWO),
    "PLSRegression": lambda: PLSRegression(2).fit(PLAIN, Y),
    "PLSSVD": lambda: before(FrozenEstimator(PLSSVD(1).fit(PLAIN, TWO))).fit(PLAIN, Y),
    "PCA": lambda: before(PCA(2, whiten=True)).fit(PLAIN, Y),
    "PCA by maximum likelihood": lambda: before(PCA("mle")).fit(PLAIN, Y),
    "TruncatedSVD": lambda: before(TruncatedSVD(2, random_state=0)).fit(SPARSE, Y),
    "MLPRegressor": lambda: MLPRegressor(
        hidden_layer_sizes=(4, 3), solver="lbfgs", max_iter=300, tol=0.1, random_state=0
    ).fit(PLAIN, Y),
    "MLPRegressor by adam": lambda: MLPRegressor(
        hidden_layer_sizes=(4,), max_iter=30, tol=1e9, n_iter_no_change=1, early_stopping=True, random_state=0
    ).fit(PLAIN, Y),
    "MLPRegressor by sgd": lambda: MLPRegressor(
        hidden_layer_sizes=(4,), solver="sgd", activation="tanh", tol=1e9, n_iter_no_change=1, random_state=0
    ).fit(PLAIN, TWO),
    "LinearSVR": lambda: LinearSVR(random_state=0).fit(PLAIN, Y),
    "SVR": lambda: SVR().fit(PLAIN, Y),
    "SVR of sparse rows": lambda: SVR(kernel="linear").fit(SPARSE, Y),
    "SVR precomputed": lambda: SVR(kernel="precomputed").fit(PLAIN @ PLAIN.T, Y),
    "NuSVR": lambda: NuSVR(kernel="poly", gamma=0.3).fit(PLAIN, Y),
    "DecisionTreeRegressor": lambda: DecisionTreeRegressor(max_depth=3).fit(GAPS, Y),
    "DecisionTreeRegressor of two": lambda: DecisionTreeRegressor(max_depth=3).fit(PLAIN, TWO),
    "ExtraTreeRegressor": lambda: ExtraTreeRegressor(max_depth=3, random_state=0).fit(PLAIN, Y),
    "RandomForestRegressor": lambda: RandomForestRegressor(25, max_depth=2, oob_score=True, random_state=0).fit(
        GAPS, Y
    ),
    "ExtraTreesRegressor": lambda: ExtraTreesRegressor(3, random_state=0, n_jobs=1).fit(PLAIN, TWO),
    "GradientBoostingRegressor": lambda: GradientBoostingRegressor(n_estimators=3, random_state=0).fit(PLAIN, Y),
    "GradientBoostingRegressor, huber": lambda: GradientBoostingRegressor(
        n_estimators=3, loss="huber", subsample=0.8, n_iter_no_change=2, random_state=0
    ).fit(PLAIN, Y),
    "GradientBoostingRegressor from zero": lambda: GradientBoostingRegressor(
        n_estimators=3, init="zero", loss="quantile", alpha=0.8, random_state=0
    ).fit(PLAIN, Y),
    "HistGradientBoostingRegressor": lambda: hist().fit(GAPS, Y),
    "HistGradientBoostingRegressor with stopping": lambda: hist(early_stopping=True, loss="absolute_error").fit(
        PLAIN, Y
    ),
    "HistGradientBoostingRegressor of counts": lambda: hist(loss="poisson").fit(PLAIN, np.exp(Y)),
    "HistGradientBoostingRegressor of quantiles": lambda: hist(loss="quantile", quantile=0.8, max_features=0.5).fit(
        PLAIN, Y
    ),
    "HistGradientBoostingRegressor of categories": lambda: hist(categorical_features=[0, 2]).fit(
        CODES, 3.0 * (CODES[:, 0] % 2) + Y
    ),
    "HistGradientBoostingRegressor of texts": lambda: hist(categorical_features=["site"]).fit(
        FRAME, 3.0 * (FRAME["site"] == "north") + Y
    ),
    "AdaBoostRegressor": lambda: AdaBoostRegressor(n_estimators=3, random_state=0).fit(PLAIN, Y),
    "BaggingRegressor": lambda: BaggingRegressor(Ridge(), 3, max_features=0.7, random_state=0).fit(PLAIN, Y),
    "BaggingRegressor of trees": lambda: BaggingRegressor(n_estimators=3, random_state=0).fit(PLAIN, Y),
    "StackingRegressor": lambda: StackingRegressor(
        [("a", Ridge()), ("b", "drop"), ("c", LinearRegression())], passthrough=True, cv=3
    ).fit(PLAIN, Y),
    "VotingRegressor": lambda: VotingRegressor(
        [("a", Ridge()), ("b", "drop"), ("c", LinearRegression())], weights=[1, 2, 3]
    ).fit(PLAIN, Y),
    "MultiOutputRegressor": lambda: MultiOutputRegressor(Ridge()).fit(PLAIN, TWO),
    "RegressorChain": lambda: RegressorChain(Ridge(), order=[1, 0]).fit(PLAIN, TWO),
    "RegressorChain in a random order": lambda: RegressorChain(Ridge(), order="random", cv=3, random_state=0).fit(
        PLAIN, TWO
    ),
    "TransformedTargetRegressor": lambda: TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp).fit(
        PLAIN, np.exp(Y)
    ),
    "TransformedTargetRegressor by ranks": lambda: TransformedTargetRegressor(
        Ridge(), transformer=QuantileTransformer(n_quantiles=10, output_distribution="normal")
    ).fit(PLAIN, Y),
    "GridSearchCV": lambda: GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(PLAIN, Y),
    "GridSearchCV of a pipeline": lambda: GridSearchCV(
        before(StandardScaler()), {"ridge__alpha": np.logspace(-1, 1, 3)}, scoring="neg_mean_absolute_error", cv=3
    ).fit(PLAIN, Y),
    "RandomizedSearchCV": lambda: RandomizedSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n_iter=2, random_state=0, cv=KFold(3)
    ).fit(PLAIN, Y),
    "FrozenEstimator": lambda: FrozenEstimator(Ridge().fit(PLAIN, Y)),
    "GaussianProcessRegressor": lambda: GaussianProcessRegressor(
        ConstantKernel(1.0) * RBF([1.0, 2.0, 3.0]) + WhiteKernel(0.5), normalize_y=True, optimizer=None
    ).fit(PLAIN, Y),
    "GaussianProcessRegressor of other kernels": lambda: GaussianProcessRegressor(
        Matern(nu=1.5) + RationalQuadratic() + DotProduct() ** 2 + ExpSineSquared(), alpha=50.0, optimizer=None
    ).fit(PLAIN, TWO),
    "GaussianProcessRegressor of several kernels": lambda: GaussianProcessRegressor(
        Exponentiation(CompoundKernel([RBF()]), 2), alpha=0.5, optimizer=None
    ),
    "KernelCenterer": lambda: make_pipeline(KernelCenterer(), KernelRidge(kernel="precomputed")).fit(
        PLAIN @ PLAIN.T, Y
    ),
    "GaussianProcessRegressor by default": lambda: GaussianProcessRegressor(alpha=0.5).fit(PLAIN, Y),
    "KNeighborsRegressor": lambda: KNeighborsRegressor(3, weights="distance").fit(PLAIN, Y),
    "KNeighborsRegressor by balls": lambda: KNeighborsRegressor(3, algorithm="ball_tree", leaf_size=5, p=1).fit(
        PLAIN, TWO
    ),
    "KNeighborsRegressor by force": lambda: KNeighborsRegressor(3, algorithm="brute").fit(PLAIN.astype("f4"), Y),
    "KNeighborsRegressor of sparse rows": lambda: KNeighborsRegressor(3).fit(SPARSE, Y),
    "KNeighborsRegressor by weights": lambda: KNeighborsRegressor(
        3, metric="minkowski", p=3, metric_params={"w": np.array([1.0, 2.0, 0.5])}
    ).fit(PLAIN, Y),
    "RadiusNeighborsRegressor": lambda: RadiusNeighborsRegressor(5.0).fit(PLAIN, Y),
    "Binarizer": lambda: before(Binarizer()).fit(PLAIN, Y),
    "MaxAbsScaler": lambda: before(MaxAbsScaler()).fit(PLAIN, Y),
    "MinMaxScaler": lambda: before(MinMaxScaler((0, 2), clip=True)).fit(PLAIN, Y),
    "Normalizer": lambda: before(Normalizer()).fit(PLAIN, Y),
    "PowerTransformer": lambda: before(PowerTransformer()).fit(PLAIN, Y),
    "QuantileTransformer": lambda: before(QuantileTransformer(n_quantiles=10)).fit(PLAIN, Y),
    "RobustScaler": lambda: before(RobustScaler()).fit(PLAIN, Y),
    "StandardScaler": lambda: before(StandardScaler(with_mean=False)).fit(SPARSE, Y),
    "StandardScaler of gaps": lambda: make_pipeline(StandardScaler(), hist()).fit(GAPS, Y),
    "KBinsDiscretizer": lambda: before(
        KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf") if _new() else KBinsDiscretizer(3)
    ).fit(PLAIN, Y),
    "KBinsDiscretizer as numbers": lambda: before(KBinsDiscretizer(3, encode="ordinal", strategy="uniform")).fit(
        PLAIN, Y
    ),
    "OneHotEncoder": lambda: before(OneHotEncoder(max_categories=3, handle_unknown="infrequent_if_exist")).fit(
        CODES, Y
    ),
    "OneHotEncoder of texts": lambda: before(OneHotEncoder(drop="if_binary", min_frequency=2)).fit(FRAME[["site"]], Y),
    "OneHotEncoder that drops": lambda: before(OneHotEncoder(drop="first", dtype=np.float32)).fit(CODES, Y),
    "OrdinalEncoder": lambda: before(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=3)
    ).fit(CODES, Y),
    "OrdinalEncoder of texts and gaps": lambda: make_pipeline(OrdinalEncoder(), hist()).fit(
        np.where(GAPS > 0, "b", np.where(GAPS < 0, "a", None).astype(object)).astype(object), Y
    ),
    "TargetEncoder": lambda: before(TargetEncoder(target_type="continuous", cv=3, random_state=0)).fit(CODES, Y),
    "PolynomialFeatures": lambda: before(PolynomialFeatures((1, 2), interaction_only=True)).fit(PLAIN, Y),
    "SplineTransformer": lambda: before(SplineTransformer(4, extrapolation="linear")).fit(PLAIN, Y),
    "SplineTransformer that repeats": lambda: before(
        SplineTransformer(4, extrapolation="periodic", knots="quantile")
    ).fit(PLAIN, Y),
    "SplineTransformer of sparse output": lambda: before(SplineTransformer(3, sparse_output=True)).fit(PLAIN, Y),
    "FunctionTransformer": lambda: before(FunctionTransformer(np.arctan, inverse_func=np.tan)).fit(PLAIN, Y),
    "FunctionTransformer of nothing": lambda: before(StandardScaler(), FunctionTransformer()).fit(PLAIN, Y),
    "SimpleImputer": lambda: before(SimpleImputer(strategy="median", add_indicator=True)).fit(GAPS, Y),
    "SimpleImputer of texts": lambda: before(
        SimpleImputer(strategy="most_frequent", missing_values=None), OneHotEncoder()
    ).fit(FRAME[["site"]].astype(object).to_numpy(), Y),
    "MissingIndicator": lambda: before(MissingIndicator()).fit(GAPS, Y),
    "KNNImputer": lambda: before(KNNImputer(n_neighbors=3, add_indicator=True)).fit(GAPS, Y),
    "Nystroem": lambda: before(Nystroem(n_components=5, random_state=0)).fit(PLAIN, Y),
    "RBFSampler": lambda: before(RBFSampler(n_components=5, random_state=0)).fit(PLAIN, Y),
    "SelectFromModel": lambda: before(SelectFromModel(Ridge())).fit(PLAIN, Y),
    "RFE": lambda: before(RFE(Ridge(), n_features_to_select=2)).fit(PLAIN, Y),
    "RFECV": lambda: RFECV(Ridge(), cv=3).fit(PLAIN, Y),
    "SequentialFeatureSelector": lambda: before(SequentialFeatureSelector(Ridge(), n_features_to_select=2, cv=3)).fit(
        PLAIN, Y
    ),
    "GenericUnivariateSelect": lambda: before(GenericUnivariateSelect(f_regression, param=50)).fit(PLAIN, Y),
    "SelectFdr": lambda: before(SelectFdr(f_regression, alpha=0.9)).fit(PLAIN, Y),
    "SelectFpr": lambda: before(SelectFpr(f_regression, alpha=0.9)).fit(PLAIN, Y),
    "SelectFwe": lambda: before(SelectFwe(f_regression, alpha=0.9)).fit(PLAIN, Y),
    "SelectKBest": lambda: before(SelectKBest(f_regression, k=2)).fit(PLAIN, Y),
    "SelectPercentile": lambda: before(SelectPercentile(f_regression, percentile=70)).fit(PLAIN, Y),
    "VarianceThreshold": lambda: before(VarianceThreshold(0.1)).fit(PLAIN, Y),
    "FeatureUnion": lambda: before(
        FeatureUnion([("a", StandardScaler()), ("b", "drop"), ("c", "passthrough"), ("d", PCA(1))])
    ).fit(PLAIN, Y),
    "ColumnTransformer": lambda: before(_table()).fit(FRAME, Y),
    "ColumnTransformer with the rest": lambda: before(
        ColumnTransformer([("a", StandardScaler(), [0]), ("b", "drop", slice(1, 2))], remainder="passthrough")
    ).fit(PLAIN, Y),
    "ColumnTransformer by a mask": lambda: before(
        ColumnTransformer([("a", "passthrough", np.array([True, False, True]))], remainder=MinMaxScaler())
    ).fit(PLAIN, Y),
    "Pipeline for frames": lambda: make_pipeline(_table().set_output(transform="pandas"), LinearRegression()).fit(
        FRAME, Y
    ),
    "LocalRidge": lambda: LocalRidge().fit(PLAIN, Y),
    "LocalRidge of splines": lambda: LocalRidge(SplineTransformer(3), n_neighbors=9, norm=1).fit(PLAIN, Y),
    "LocalRidge with a matrix": lambda: LocalRidge(alpha=np.diag([1.0, 2.0]), weight="tricube").fit(LINE, Y),
    "LocalRidge on the line": lambda: LocalRidge(norm=np.eye(1)).fit(LINE, Y),
    "LocalKernelRidge": lambda: LocalKernelRidge().fit(PLAIN, Y),
    "LocalKernelRidge of neighbours": lambda: LocalKernelRidge(n_neighbors=9, norm=np.inf).fit(PLAIN, Y),
    "LocalKernelRidge, dense": lambda: LocalKernelRidge(solver="dense", kernel="poly").fit(PLAIN, Y),
    "LocalKernelRidge on the line": lambda: LocalKernelRidge(solver="line").fit(LINE, Y),
    "EnsembleScale": lambda: scale.EnsembleScale(RandomForestRegressor(3, random_state=0)).fit(PLAIN, Y),
    "EnsembleScale of models": lambda: scale.EnsembleScale(Ridge(), [Ridge(2.0), LinearRegression()]).fit(PLAIN, Y),
    "ResidualScale": lambda: scale.ResidualScale(Ridge(), hist()).fit(PLAIN, Y),
    "ResidualScale by default": lambda: scale.ResidualScale(before(StandardScaler())).fit(PLAIN, Y),
    "NeighborScale": lambda: scale.NeighborScale(Ridge()).fit(PLAIN, Y),
    "NeighborScale behind a pipeline": lambda: scale.NeighborScale(before(_table())).fit(FRAME, Y),
    "ParzenScale": lambda: scale.ParzenScale(Ridge()).fit(PLAIN, Y),
    "LeverageScale": lambda: scale.LeverageScale(PolynomialFeatures(), coefficients="random").fit(PLAIN, Y),
    "QuantileScale": lambda: scale.QuantileScale(hist(loss="quantile", quantile=0.5), estimator=Ridge()).fit(PLAIN, Y),
    "QuantileBand": lambda: scale.QuantileBand(hist(loss="quantile", quantile=0.5)).fit(PLAIN, Y),
    "StdScale": lambda: scale.StdScale(BayesianRidge()).fit(PLAIN, Y),
    "ProductScale": lambda: scale.ProductScale([scale.LeverageScale(), scale.NeighborScale(Ridge())]).fit(PLAIN, Y),
    "FloorScale": lambda: scale.FloorScale(scale.NeighborScale(Ridge())).fit(PLAIN, Y),
    "LeaveOneOutRidge": lambda: LeaveOneOutRidge((0.1, 1.0)).fit(PLAIN, Y),
    "SmoothProcess": lambda: SmoothProcess(max_iter=3, random_state=0).fit(PLAIN, Y),
    "LogOfStandardised": lambda: TransformedTargetRegressor(Ridge(), transformer=LogOfStandardised(9.0, 2.0)).fit(
        PLAIN, Y
    ),
    "ShortestWindow": lambda: ShortestWindow(ExtraTreesRegressor(2, random_state=0), 0.9).fit(PLAIN, Y),
    "Band": _stack,
}
if hasattr(linear_model, "PassiveAggressiveRegressor"):
    # Of releases before 1.10.
    CASES["PassiveAggressiveRegressor"] = lambda: linear_model.PassiveAggressiveRegressor(random_state=0).fit(PLAIN, Y)
TABLES = (PLAIN, FRAME, FRAME[["a"]], FRAME[["site"]], FRAME[["site"]].astype(object).to_numpy(), CODES, LINE, SPARSE)
TABLES += (GAPS, PLAIN @ PLAIN.T, OLD_SPARSE, np.where(GAPS > 0, "b", "a").astype(object))


def _new():
    import sklearn

    return tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 7)


@cache
def fitted(name):
    """Return the fitted model of a case."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()


def answers(model):
    """Return what a model says of every table that it takes, as arrays, or the name of the error."""
    import warnings

    found = []
    for given in TABLES:
        # One of its own, for some models look whether it is the table of the fit.
        table = given.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(np.asarray(model.predict(table)))
                found.append(np.asarray(model.predict(table, return_std=True)))
            except Exception as error:
                found.append(np.asarray(type(error).__name__))
    return found
