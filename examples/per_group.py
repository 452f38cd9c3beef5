"""A promise within every group: one that holds on average may be broken in every row of a small group."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import pacband

rng = np.random.default_rng(0)
sites = rng.choice(["coast", "hills", "summit"], size=9000, p=[0.6, 0.3, 0.1])
noise = np.select([sites == "coast", sites == "hills"], [1.0, 2.0], default=5.0)
table = pd.DataFrame({"pressure": rng.normal(1000.0, 10.0, 9000), "site": pd.Categorical(sites)})
measured = 15.0 + 0.3 * (table["pressure"] - 1000.0) + noise * rng.standard_normal(9000)
known, fresh = slice(0, 6000), slice(6000, None)

# The group of a row is a column of the table; fit keeps enough rows of each group for calibration.
model = HistGradientBoostingRegressor(max_iter=30, categorical_features="from_dtype", random_state=0)
overall, grouped = (
    pacband.CertifiedRegressor(model, eps=0.05, delta=1e-3, groups=groups, random_state=0).fit(
        table[known], measured[known]
    )
    for groups in (None, "site")
)
print(grouped.certificate_)

print("\nviolations on fresh rows (at most 5 % promised)")
outside = {}
for name, certified in (("overall", overall), ("grouped", grouped)):
    lower, upper = certified.predict_interval(table[fresh]).T
    outside[name] = (measured[fresh] < lower) | (measured[fresh] > upper)
for site in ("coast", "hills", "summit"):
    rows = table["site"][fresh] == site
    overall_share, grouped_share = (outside[name][rows].mean() for name in ("overall", "grouped"))
    print(f"  {site:<7} overall certificate {overall_share:6.1%}   group certificate {grouped_share:6.1%}")
