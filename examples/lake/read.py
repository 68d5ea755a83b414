"""Reads a dataset as an Iceberg table, with PyIceberg (pip install 'pyiceberg[pyarrow]').

    python3 examples/lake/read.py us.earthquakes ["mag > 4.5"]

`proofstream demo` loads that one. SERVER and TOKEN in the environment say where, and as whom. Prints the rows that fit now, and how many there were at each of
the last blocks.
"""

import os
import sys

if len(sys.argv) < 2:
    sys.exit(__doc__)

from pyiceberg.catalog import load_catalog

name, where = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else 'true'
server = os.environ.get('SERVER', 'http://127.0.0.1:8080')
token = os.environ.get('TOKEN')
# Without a token PyIceberg would send the word None as one.
access = {'token': token} if token else {'auth': {'type': 'noop'}}
lake = load_catalog('lake', type='rest', uri=f'{server}/iceberg', **access)
table = lake.load_table(name)

scan = table.scan() if where == 'true' else table.scan(row_filter=where)
print(f'{len(scan.to_arrow())} rows in {len(list(scan.plan_files()))} of {len(list(table.scan().plan_files()))} files')
for snapshot in table.snapshots():
    rows = len(table.scan(snapshot_id=snapshot.snapshot_id).to_arrow())
    print(f'block {snapshot.snapshot_id}: {rows} rows')
