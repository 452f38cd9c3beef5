"""Do the rows look like independent draws from one distribution? Checks that need no certificate.

A promise assumes independent draws. These checks look for evidence against that, and each names its cure:

- `order`: scores or errors depend on the rows before, or change from the first row to the last; in row order, and in
  the order of a column of dates;
- `labels`: rows with the same label in some column, such as a machine, resemble each other, in any order of rows;
- `copies`: whole rows repeat.

`screening.screen_rows` runs them inside every `certify` function and every `fit`, on a few thousand rows, and issues a
`PromiseWarning`. `pacband.diagnose` runs them, and more, on all rows or on a large sample.

Every check has a p-value that is valid for independent rows with any distribution: order and labels use ranks or signs,
for which every order of the rows is equally likely. A screen shares the level `screening.LEVEL` among its checks, so
that the probability of any finding in sound data is at most that.
"""

from pacband.checks.finding import Finding

__all__ = ["Finding"]
