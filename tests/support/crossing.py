"""The probability that uniform order statistics cross a boundary, by enumeration."""

import math
from fractions import Fraction
from itertools import pairwise


def enumerated_crossing(n_samples, times, counts):
    """Sum the multinomial probabilities of all ways to spread N points over the cells between the times."""
    edges = [Fraction(0), *map(Fraction, times), Fraction(1)]
    widths = [high - low for low, high in pairwise(edges)]

    def kept(cell, seen):
        left = n_samples - seen
        if cell == len(times):
            return widths[cell] ** left / math.factorial(left)
        return sum(
            widths[cell] ** k / math.factorial(k) * kept(cell + 1, seen + k)
            for k in range(left + 1)
            if seen + k >= counts[cell]
        )

    return 1 - math.factorial(n_samples) * kept(0, 0)
