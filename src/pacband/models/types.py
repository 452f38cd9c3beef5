"""The types that a model file may hold without being named by the user.

Each stands here by its exact name, for a whole module would let a file call any function in it. Of scikit-learn these
are the models that predict by numpy alone, which looks where it reads, and those whose compiled state is checked
(`pacband.models.soundness`). The rest of scikit-learn, such as KMeans, has to be trusted by name.
"""

from __future__ import annotations

__all__ = ["KNOWN"]

_OURS = {
    "pacband._auto.blend": ("Averaged", "Band", "Stack"),
    "pacband._auto.defaults": ("LogOfStandardised",),
    "pacband._auto.smooth": ("SmoothProcess",),
    "pacband._auto.tables": ("TableReader",),
    "pacband._auto.windows": ("ShortestWindow",),
    "pacband.local.design": ("Gram", "Regressors"),
    "pacband.local.factor": ("Factor", "Factor.features"),
    "pacband.local.kernel_ridge": ("LocalKernelRidge",),
    "pacband.local.kernels": ("Kernel",),
    "pacband.local.locality": ("Locality",),
    "pacband.local.norms": ("Norm",),
    "pacband.local.ridge": ("LocalRidge", "_FeatureMap"),
    "pacband.local.solvers.jobs": ("Model",),
    "pacband.local.weights": ("Weight",),
    "pacband.scale.band": ("QuantileBand",),
    "pacband.scale.combine": ("FloorScale", "ProductScale"),
    "pacband.scale.crossfit": ("_Reader",),
    "pacband.scale.ends": ("QuantileEnds",),
    "pacband.scale.ensemble": ("EnsembleScale", "_Ensemble"),
    "pacband.scale.leverage": ("LeverageScale",),
    "pacband.scale.neighbors": ("NeighborScale",),
    "pacband.scale.parzen": ("ParzenScale", "_nothing"),
    "pacband.scale.quantile": ("QuantileScale",),
    "pacband.scale.residual": ("ResidualScale",),
    "pacband.scale.shrinkage": ("PairShrinkage", "Shrinkage"),
    "pacband.scale.std": ("StdScale",),
}
_LOSSES = (
    "CyAbsoluteError", "CyHalfGammaLoss", "CyHalfPoissonLoss", "CyHalfSquaredError", "CyHalfTweedieLoss",
    "CyHalfTweedieLossIdentity", "CyHuberLoss", "CyPinballLoss",
)  # fmt: skip
# Models of scikit-learn that predict or transform by numpy alone, or by other models.
_PLAIN = {
    "sklearn.compose._column_transformer": ("ColumnTransformer", "_RemainderColsList"),
    "sklearn.compose._target": ("TransformedTargetRegressor",),
    "sklearn.cross_decomposition._pls": ("CCA", "PLSCanonical", "PLSRegression", "PLSSVD"),
    "sklearn.decomposition._pca": ("PCA",),
    "sklearn.decomposition._truncated_svd": ("TruncatedSVD",),
    "sklearn.dummy": ("DummyRegressor",),
    "sklearn.ensemble._bagging": ("BaggingRegressor",),
    "sklearn.ensemble._stacking": ("StackingRegressor",),
    "sklearn.ensemble._voting": ("VotingRegressor",),
    "sklearn.ensemble._weight_boosting": ("AdaBoostRegressor",),
    "sklearn.feature_selection._from_model": ("SelectFromModel",),
    "sklearn.feature_selection._rfe": ("RFE", "RFECV"),
    "sklearn.feature_selection._sequential": ("SequentialFeatureSelector",),
    "sklearn.feature_selection._univariate_selection": (
        "GenericUnivariateSelect", "SelectFdr", "SelectFpr", "SelectFwe", "SelectKBest", "SelectPercentile",
        "f_regression",
    ),
    "sklearn.feature_selection._variance_threshold": ("VarianceThreshold",),
    "sklearn.frozen._frozen": ("FrozenEstimator",),
    "sklearn.gaussian_process._gpr": ("GaussianProcessRegressor",),
    "sklearn.gaussian_process.kernels": (
        "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Hyperparameter",
        "Matern", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
    ),
    "sklearn.impute._base": ("MissingIndicator", "SimpleImputer"),
    "sklearn.impute._knn": ("KNNImputer",),
    "sklearn.isotonic": ("IsotonicRegression",),
    "sklearn.kernel_approximation": ("Nystroem", "RBFSampler"),
    "sklearn.kernel_ridge": ("KernelRidge",),
    "sklearn.linear_model._base": ("LinearRegression",),
    "sklearn.linear_model._bayes": ("ARDRegression", "BayesianRidge"),
    "sklearn.linear_model._coordinate_descent": (
        "ElasticNet", "ElasticNetCV", "Lasso", "LassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV",
        "MultiTaskLasso", "MultiTaskLassoCV",
    ),
    "sklearn.linear_model._glm.glm": ("GammaRegressor", "PoissonRegressor", "TweedieRegressor"),
    "sklearn.linear_model._huber": ("HuberRegressor",),
    "sklearn.linear_model._least_angle": ("Lars", "LarsCV", "LassoLars", "LassoLarsCV", "LassoLarsIC"),
    "sklearn.linear_model._omp": ("OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV"),
    "sklearn.linear_model._passive_aggressive": ("PassiveAggressiveRegressor",),
    "sklearn.linear_model._quantile": ("QuantileRegressor",),
    "sklearn.linear_model._ransac": ("RANSACRegressor",),
    "sklearn.linear_model._ridge": ("Ridge", "RidgeCV"),
    "sklearn.linear_model._stochastic_gradient": ("SGDRegressor",),
    "sklearn.linear_model._theil_sen": ("TheilSenRegressor",),
    "sklearn.metrics._scorer": ("_PassthroughScorer",),
    "sklearn.model_selection._search": ("GridSearchCV", "RandomizedSearchCV"),
    "sklearn.model_selection._split": ("KFold",),
    "sklearn.multioutput": ("MultiOutputRegressor", "RegressorChain"),
    "sklearn.neural_network._multilayer_perceptron": ("MLPRegressor",),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing._data": (
        "Binarizer", "KernelCenterer", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "PowerTransformer",
        "QuantileTransformer", "RobustScaler", "StandardScaler",
    ),
    "sklearn.preprocessing._discretization": ("KBinsDiscretizer",),
    "sklearn.preprocessing._encoders": ("OrdinalEncoder",),
    "sklearn.preprocessing._function_transformer": ("FunctionTransformer",),
    "sklearn.preprocessing._polynomial": ("PolynomialFeatures", "SplineTransformer"),
    "sklearn.preprocessing._target_encoder": ("TargetEncoder",),
    # Its compiled part is in `fit`.
    "sklearn.svm._classes": ("LinearSVR",),
    "sklearn.utils._bunch": ("Bunch",),
    "sklearn.utils.validation": ("check_array",),
    # Losses and links have no state but a parameter.
    "sklearn._loss.link": (
        "HalfLogitLink", "IdentityLink", "Interval", "LogLink", "LogitLink", "MultinomialLogit",
    ),
    "sklearn._loss.loss": (
        "AbsoluteError", "HalfGammaLoss", "HalfPoissonLoss", "HalfSquaredError", "HalfTweedieLoss",
        "HalfTweedieLossIdentity", "HuberLoss", "PinballLoss",
    ),
    "sklearn._loss._loss": _LOSSES,
    # The name of that module in early releases.
    "_loss": _LOSSES,
    "sklearn.linear_model._sgd_fast": ("EpsilonInsensitive", "Huber", "SquaredEpsilonInsensitive", "SquaredLoss"),
}  # fmt: skip
# Those whose content `pacband.models.soundness` checks.
_CHECKED = {
    # Building a partial calls nothing, and what it will call has to be known as well.
    "functools": ("partial",),
    "scipy.interpolate._bsplines": ("BSpline",),
    "scipy.sparse._csc": ("csc_array", "csc_matrix"),
    "scipy.sparse._csr": ("csr_array", "csr_matrix"),
    "sklearn.ensemble._forest": ("ExtraTreesRegressor", "RandomForestRegressor"),
    "sklearn.ensemble._gb": ("GradientBoostingRegressor",),
    "sklearn.ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting": ("HistGradientBoostingRegressor",),
    "sklearn.ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
    "sklearn.metrics._dist_metrics": ("ChebyshevDistance64", "EuclideanDistance64", "ManhattanDistance64"),
    "sklearn.neighbors._ball_tree": ("BallTree",),
    "sklearn.neighbors._kd_tree": ("KDTree",),
    "sklearn.neighbors._regression": ("KNeighborsRegressor", "RadiusNeighborsRegressor"),
    "sklearn.neighbors._unsupervised": ("NearestNeighbors",),
    "sklearn.preprocessing._encoders": ("OneHotEncoder",),
    "sklearn.svm._classes": ("NuSVR", "SVR"),
    "sklearn.tree._classes": ("DecisionTreeRegressor", "ExtraTreeRegressor"),
    "sklearn.tree._tree": ("Tree",),
}
_NUMPY = {
    "numpy": ("dtype",),
    # How a BSpline calls numpy.asarray, by the release of scipy.
    "scipy._external.array_api_compat.numpy._aliases": ("asarray",),
    "scipy._lib.array_api_compat.numpy._aliases": ("asarray",),
}
KNOWN = frozenset(
    f"{module}.{name}" for part in (_OURS, _PLAIN, _CHECKED, _NUMPY) for module, names in part.items() for name in names
)
