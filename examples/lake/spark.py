"""Asks Spark for datasets as Iceberg tables (pip install pyspark==3.5.7; Java 17).

    python3 examples/lake/spark.py 'select count(*) from lake.acme.weather' ...

SERVER and TOKEN in the environment say where, and as whom; SPARK_JARS names the two jars where they are here already. Prints
the rows of each statement, tabs between values, and an empty line.
"""

import os
import sys

from pyspark.sql import SparkSession

server = os.environ.get('SERVER', 'http://127.0.0.1:8080')
token = os.environ.get('TOKEN')
jars = os.environ.get('SPARK_JARS')
packages = ['iceberg-spark-runtime-3.5_2.12', 'iceberg-aws-bundle']

session = (
    SparkSession.builder.master('local[2]')
    .config('spark.ui.enabled', 'false')
    .config('spark.log.level', 'ERROR')
    .config('spark.sql.session.timeZone', 'UTC')
    .config('spark.sql.extensions', 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions')
    .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
    .config('spark.sql.catalog.lake.type', 'rest')
    .config('spark.sql.catalog.lake.uri', f'{server}/iceberg')
)
if jars:
    session = session.config('spark.jars', jars)
else:
    session = session.config('spark.jars.packages', ','.join(f'org.apache.iceberg:{name}:1.10.0' for name in packages))
if token:
    session = session.config('spark.sql.catalog.lake.token', token)
spark = session.getOrCreate()

for statement in sys.argv[1:]:
    for row in spark.sql(statement).collect():
        print(*row, sep='\t')
    print()
