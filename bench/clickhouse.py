# ClickHouse as chdb has it: one INSERT of a file into a MergeTree table, with one thread; prints seconds and CPU of it.
# Arguments: file, its format (JSONEachRow or CSVWithNames), structure of its rows, a directory for the table.

import json
import resource
import sys
import time

from chdb import session

path, form, structure, directory = sys.argv[1:]
settings = (
    "max_threads = 1, max_insert_threads = 1, input_format_parallel_parsing = 0, date_time_input_format = 'best_effort'"
)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


own = session.Session(directory)
own.query("CREATE DATABASE bench")
own.query(f"CREATE TABLE bench.rows ({structure}) ENGINE = MergeTree ORDER BY id")
source = "file('{}', {}, '{}')".format(path, form, structure.replace("'", "\\'"))
start, start_cpu = time.monotonic(), cpu()
own.query(f"INSERT INTO bench.rows SELECT * FROM {source} SETTINGS {settings}")
seconds, used = time.monotonic() - start, cpu() - start_cpu
rows = int(str(own.query("SELECT count() FROM bench.rows", "TabSeparated")))
print(json.dumps({"seconds": seconds, "cpu": used, "rows": rows}))
