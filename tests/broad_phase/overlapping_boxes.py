"""The truth of boxes, pair by pair, and a frame that ends in Ctrl-C: for the tests of single broad phases."""

import numpy as np

from jostle.broad_phase import Volumes


def overlapping(lower, upper):
    both = (lower[:, None] <= upper[None]).all(axis=2)
    return np.stack(np.nonzero(np.triu(both & both.T, 1)))


def assert_right(finder, lower, upper):
    found = np.stack(finder.find(Volumes(lower, upper)))
    np.testing.assert_array_equal(found, overlapping(lower, upper))
    return found


def interrupted(*arguments):
    raise KeyboardInterrupt
