"""A promise within every group: one that holds on average may be broken in every row of a small group."""

import numpy as np

import pacband

rng = np.random.default_rng(0)
sites = rng.choice(["coast", "hills", "summit"], size=9000, p=[0.6, 0.3, 0.1])
noise = np.select([sites == "coast", sites == "hills"], [1.0, 2.0], default=5.0)
predicted = rng.normal(15.0, 5.0, 9000)
measured = predicted + noise * rng.standard_normal(9000)
calibrate, fresh = slice(0, 6000), slice(6000, None)

overall = pacband.certify(measured[calibrate], predicted[calibrate], eps=0.05, delta=1e-3)
grouped = pacband.certify_groups(measured[calibrate], predicted[calibrate], sites[calibrate], eps=0.05, delta=1e-3)
print(grouped)

print("\nviolations on fresh rows (at most 5 % promised)")
overall_band = overall.interval(predicted[fresh])
grouped_band = grouped.interval(predicted[fresh], sites[fresh])
for site in ("coast", "hills", "summit"):
    rows = sites[fresh] == site
    outside = [
        np.mean((measured[fresh][rows] < band[rows, 0]) | (measured[fresh][rows] > band[rows, 1]))
        for band in (overall_band, grouped_band)
    ]
    print(f"  {site:<7} overall certificate {outside[0]:6.1%}   group certificate {outside[1]:6.1%}")
