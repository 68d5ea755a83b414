"""What psqlODBC reads at the PostgreSQL door, through pyodbc, as lines `name: JSON`.

Arguments: port, settings of the driver, a statement whose rows are told whole, and one with a column of each type."""

import datetime
import decimal
import json
import sys

import pyodbc

port, settings, whole, types = sys.argv[1:]
connection = pyodbc.connect(
    "Driver={PostgreSQL Unicode};Server=127.0.0.1;Port=%s;Database=all;UID=anonymous;PWD=;%s" % (port, settings),
    autocommit=True,
)
cursor = connection.cursor()


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat() + "Z"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    return str(value) if isinstance(value, (decimal.Decimal, datetime.date, datetime.time)) else value


def told(name, work):
    try:
        value = work()
    except pyodbc.Error as error:
        value = "refused " + error.args[0]
    print("%s: %s" % (name, json.dumps(value)))


def rows(found):
    return [[plain(value) for value in row] for row in found]


def ask(name, sql, *values):
    told(name, lambda: rows(cursor.execute(sql, *values).fetchall()))


def columns(name, work, *wanted):
    told(name, lambda: [[getattr(row, one) for one in wanted] for row in work()])


def in_transaction():
    connection.autocommit = False
    try:
        cursor.execute('select n from "demo/all" order by n')
        some = rows(cursor.fetchmany(2))
        connection.rollback()
        return some
    finally:
        connection.autocommit = True


ask("whole", whole)
ask("types", types)
columns("tables", lambda: cursor.tables(tableType="TABLE"), "table_cat", "table_schem", "table_name", "table_type")
columns("tables by a pattern", lambda: cursor.tables(schema="demo", table="al%"), "table_name")
columns("schemas", lambda: cursor.tables(catalog="", schema="%", table=""), "table_schem")
columns("columns", lambda: cursor.columns(table="all", schema="demo"), "column_name", "type_name", "nullable")
columns("a column with a low line", lambda: cursor.columns(table="all", schema="demo", column="system\\_time"), "column_name")
columns("odd names", lambda: cursor.columns(table="Odd-Names", schema="zoo"), "column_name", "type_name")
columns("primary keys", lambda: cursor.primaryKeys("all", schema="demo"), "column_name")
columns("foreign keys", lambda: cursor.foreignKeys("all", schema="demo"), "fkcolumn_name")
columns("statistics", lambda: cursor.statistics("all", schema="demo"), "index_name")
from_all = 'select n, word from "demo/all" where '
ask("values", from_all + "n = ? or word = ? order by n", 5, "w7")
ask("doubles", from_all + "f > ? order by n limit 1", 0.75)
ask("decimals", from_all + "f = ? order by n limit 1", decimal.Decimal("1.5"))
ask("times", from_all + "moment > ? order by n limit 1", datetime.datetime(2026, 1, 1, 0, 1))
ask("nothing", from_all + "word is not distinct from ?::text order by n limit 1", None)
ask("column of a value", 'select ? as a, n as b from "demo/all" order by n limit 1', "x")
ask("odd rows", 'select "Some Name", "select" from zoo."Odd-Names"')
told("transaction", in_transaction)
ask("error", 'select nothing from "demo/all"')
ask("write", 'delete from "demo/all"')
ask("after", "select 1")
