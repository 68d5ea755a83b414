"""Runs statements in Spark over the catalog of a node, on two executors of one core each, for bench/scale.ts.

Reads JSON lines from standard input, {"sql": …}; answers each with {"rows": …} or {"error": …}. SERVER, TOKEN and SPARK_JARS as
for examples/lake/spark.py; EXECUTOR_MIB is the memory of an executor.
"""

import json
import os
import sys

from pyspark.sql import SparkSession

memory = os.environ['EXECUTOR_MIB']
spark = (
    # Two executors are two processes, which get their tasks over sockets, as on two machines.
    SparkSession.builder.master(f'local-cluster[2,1,{memory}]')
    .config('spark.executor.memory', f'{memory}m')
    .config('spark.ui.enabled', 'false')
    .config('spark.ui.showConsoleProgress', 'false')
    .config('spark.log.level', 'ERROR')
    .config('spark.jars', os.environ['SPARK_JARS'])
    .config('spark.sql.session.timeZone', 'UTC')
    .config('spark.sql.shuffle.partitions', '16')
    .config('spark.sql.extensions', 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions')
    .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
    .config('spark.sql.catalog.lake.type', 'rest')
    .config('spark.sql.catalog.lake.uri', os.environ['SERVER'] + '/iceberg')
    .config('spark.sql.catalog.lake.token', os.environ['TOKEN'])
    .getOrCreate()
)
spark.range(100).repartition(2).count()
print(json.dumps({'executors': spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1}), flush=True)

for line in sys.stdin:
    try:
        answer = {'rows': [[str(value) for value in row] for row in spark.sql(json.loads(line)['sql']).collect()]}
    except Exception as error:  # what a statement fails of is its answer
        answer = {'error': str(error).splitlines()[0][:300]}
    print(json.dumps(answer), flush=True)
spark.stop()
