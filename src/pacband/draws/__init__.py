"""What one independent draw is: a row, a unit, every a-th row of a series, an accepted row.

Pass one of these as `draws=` where the rows are not independent draws of the future rows:

- `Units`: several rows of one machine, patient or run, and new machines to come;
- `Spaced`: one time series;
- `Weighted`: inputs that will be distributed differently, in a known way.
"""

from pacband.draws.declared import Draws, Rows, Spaced, Units
from pacband.draws.kinds import ROWS, DrawKind, draw_kind
from pacband.draws.samples import Sample
from pacband.draws.weighted import Weighted

__all__ = ["ROWS", "DrawKind", "Draws", "Rows", "Sample", "Spaced", "Units", "Weighted", "draw_kind"]
