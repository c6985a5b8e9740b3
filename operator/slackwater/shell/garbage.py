"""Python looks for garbage in everything that lives, and the event loop stands still meanwhile."""

from __future__ import annotations

import gc


def keep_for_good() -> None:
    """Look once, and from then on no more at what there is now: the program, and the objects of the first list.

    These are two thirds of what lives, and more of it with each group. One that is replaced is freed as ever, but for
    circles, and there are none in what JSON gives.
    """
    gc.collect()
    gc.freeze()
