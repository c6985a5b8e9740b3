"""The pipeline's peer in the benchmark is built as well as its friends would build it."""

from __future__ import annotations

import pyarrow as pa

from benchmarks.pipeline_peer import _received, _sent


def test_a_batch_takes_its_own_rows_along_and_no_others() -> None:
    """A pickled slice takes the whole table's buffers: a hundred of them were a hundred tables."""
    table = pa.table({"silence_s": [float(row) for row in range(100_000)]})
    batches = table.to_batches(max_chunksize=1_000)
    sent = [_sent(batch) for batch in batches]
    assert sum(map(len, sent)) < 1.2 * table.nbytes
    assert pa.Table.from_batches(map(_received, sent)).equals(table)
