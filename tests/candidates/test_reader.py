"""Tables as a matrix of numbers."""

import numpy as np
import pandas as pd

from pacband.candidates.reader import TableReader
from support.automatic import mixed_table


def test_numpy_objects_are_read_as_frames_are(rng):
    columns, _ = mixed_table(rng, 60)
    frame = pd.DataFrame(columns)
    reader = TableReader().fit(frame)
    np.testing.assert_array_equal(TableReader().fit(frame.to_numpy(object)).transform(frame), reader.transform(frame))
    assert reader.kept_ == (0, 1, 2)
    assert reader.categorical_ == (0,)
