"""Programs of Python that read a PostgreSQL server by its catalogue, against a node. Arguments: the program, the node's port. A line of
JSON for each thing that it finds: what the test expects of it is in postgres-python.test.ts."""

import datetime
import json
import sys

PROGRAM, PORT = sys.argv[1], int(sys.argv[2])
ADDRESS = f'postgresql://anonymous@127.0.0.1:{PORT}/all'
SINCE = datetime.datetime(2026, 3, 2, tzinfo=datetime.timezone.utc)
DAYS = 'select cast(event_time as date) as day, count(*) as rows, sum(n)::bigint as n from demo.hours group by 1 order by 1'


def told(name, value):
    def plain(one):
        return one.isoformat() if hasattr(one, 'isoformat') else float(one)

    print(json.dumps([name, value], default=plain))


def with_sqlalchemy():
    import sqlalchemy as sa

    engine = sa.create_engine(ADDRESS.replace('postgresql:', 'postgresql+psycopg:'))
    found = sa.inspect(engine)
    accounts = sorted({'demo', 'Other'} & set(found.get_schema_names()))
    told('tables', [[account, table] for account in accounts for table in found.get_table_names(account)])
    columns = found.get_columns('hours', schema='demo')
    told('columns', [[one['name'], str(one['type']), one['nullable']] for one in columns])
    keys = found.get_pk_constraint('hours', 'demo')['constrained_columns']
    told('nothing', [keys, found.get_foreign_keys('hours', 'demo'), found.get_indexes('hours', 'demo'), found.get_view_names('demo')])
    hours = sa.Table('hours', sa.MetaData(), schema='demo', autoload_with=engine)
    odd = sa.Table('odd-Name.v2', sa.MetaData(), schema='Other', autoload_with=engine)
    day = sa.cast(hours.c.event_time, sa.Date)
    chosen = sa.select(sa.func.count()).where(hours.c.event_time >= SINCE, hours.c.word.in_(["it's", 'w1']))
    with engine.connect() as connection:
        days = sa.select(day, sa.func.count(), sa.func.sum(hours.c.n)).group_by(day).order_by(day)
        told('days', [list(row) for row in connection.execute(days)])
        told('chosen', connection.execute(chosen).scalar())
        streamed = connection.execution_options(yield_per=1000).execute(sa.select(hours.c.n))
        told('all', sum(row[0] for row in streamed))
        told('odd', [list(row) for row in connection.execute(sa.select(odd.c['Mixed Case'], odd.c['a "b"']))])
    # The pool has this connection for the next one, which is to write.
    with engine.connect().execution_options(postgresql_readonly=True) as connection:
        connection.execute(sa.select(1))
    with engine.connect() as connection:
        told('after', connection.execute(sa.select(1)).scalar())
        try:
            connection.execute(hours.insert().values(n=1))
        except sa.exc.DBAPIError as error:
            told('write', error.orig.sqlstate)


def with_duckdb():
    import duckdb

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.execute('load postgres')
    connection.execute(f"attach 'host=127.0.0.1 port={PORT} user=anonymous dbname=all' as node (type postgres, read_only)")

    def asked(sql):
        return [list(row) for row in connection.execute(sql).fetchall()]

    told('tables', asked("select schema_name, table_name from duckdb_tables() where database_name = 'node' and schema_name in ('Other', 'demo') order by 1, 2"))
    told('columns', [row[:3] for row in asked('describe node.demo.hours')])
    told('days', asked(DAYS.replace('demo.', 'node.demo.')))
    told('chosen', asked(f"select count(*) from node.demo.hours where event_time >= '{SINCE}' and word in ('it''s', 'w1')")[0][0])
    told('all', asked('select sum(n) from (select * from node.demo.hours)')[0][0])
    told('odd', asked('select "Mixed Case", "a ""b""" from node.Other."odd-Name.v2"'))
    try:
        connection.execute('insert into node.demo.hours (n) values (1)')
    except duckdb.Error as error:
        told('write', type(error).__name__)


def with_adbc():
    import adbc_driver_postgresql.dbapi

    with adbc_driver_postgresql.dbapi.connect(ADDRESS) as connection:

        def asked(sql, values=None):
            with connection.cursor() as cursor:
                cursor.execute(sql, values)
                return [list(row.values()) for row in cursor.fetch_arrow_table().to_pylist()]

        (catalogue,) = connection.adbc_get_objects(depth='tables').read_all().to_pylist()
        schemas = {one['db_schema_name']: one['db_schema_tables'] for one in catalogue['catalog_db_schemas']}
        told('tables', [[account, table['table_name']] for account in ('Other', 'demo') for table in schemas[account]])
        told('columns', [[one.name, str(one.type)] for one in connection.adbc_get_table_schema('hours', db_schema_filter='demo')])
        told('days', asked(DAYS))
        told('chosen', asked("select count(*) from demo.hours where event_time >= $1 and word in ($2, 'w1')", (SINCE, "it's"))[0][0])
        told('all', sum(row[0] for row in asked('select n from demo.hours')))
        told('odd', asked('select "Mixed Case", "a ""b""" from "Other"."odd-Name.v2"'))
        try:
            asked('insert into demo.hours (n) values (1)')
        except adbc_driver_postgresql.dbapi.Error as error:
            told('write', error.sqlstate)


def with_ibis():
    import ibis

    connection = ibis.postgres.connect(host='127.0.0.1', port=PORT, user='anonymous', database='all', schema='demo')
    told('tables', [['demo', name] for name in connection.list_tables(database='demo')])
    hours = connection.table('hours')
    told('columns', [[name, str(type)] for name, type in hours.schema().items()])
    days = hours.group_by(day=hours.event_time.date()).agg(rows=hours.count(), n=hours.n.sum()).order_by('day')
    told('days', [list(row.values()) for row in days.to_pyarrow().to_pylist()])
    since = hours.filter(hours.event_time >= ibis.timestamp(SINCE.isoformat()), hours.word.isin(["it's", 'w1']))
    told('chosen', since.count().to_pyarrow().as_py())
    told('all', sum(batch['n'].to_numpy().sum().item() for batch in hours.select('n').to_pyarrow_batches()))
    try:
        connection.create_table('other', schema=ibis.schema({'n': 'int'}))
    except Exception as error:
        told('write', error.sqlstate)


{'sqlalchemy': with_sqlalchemy, 'duckdb': with_duckdb, 'adbc': with_adbc, 'ibis': with_ibis}[PROGRAM]()
