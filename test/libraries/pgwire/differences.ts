// Statements of programs that a PostgreSQL server answers otherwise, and why. Data.

const version = 'it is another version'
const moreTypes = 'the server has more types'
const owner = 'catalogue and database belong to nobody who can connect, and nobody here is a superuser'
const oneDatabase = 'there is one database, which belongs to nobody who can connect'
const noSizes = 'no sizes are told'
const more = 'the server has more of them'
const readOnly = 'nobody writes'

export const differences: ReadonlyMap<string, string> = new Map([
  ['ADBC: types', moreTypes],
  ['DataGrip: session', 'when it started is not told'],
  ['DataGrip: state', 'there are no transactions'],
  ['DataGrip: schemas', owner],
  ['DBeaver: version', version],
  ['DBeaver: databases', oneDatabase],
  ['DBeaver: schemas', owner],
  ['DBeaver: types', moreTypes],
  ['DBeaver: tables', 'tables have no types, files and transactions'],
  ['DBeaver: columns', 'there are no system columns'],
  ['DBeaver: sizes', noSizes],
  ['DBeaver: settings', more],
  ['DBeaver: roles', more],
  ['dbt: schemas', more],
  ['DuckDB: version', version],
  ['DuckDB: tables', 'the catalogue has no keys'],
  ['DuckDB: indexes', 'the catalogue has no indexes'],
  ['Metabase: tables by rights', readOnly],
  ['Npgsql: types', moreTypes],
  ['pgAdmin: start', readOnly],
  ['pgAdmin: roles', owner],
  ['pgjdbc: start of a connection', version],
  ['pgjdbc: getTypeInfo', moreTypes],
  ['pgjdbc: keywords', 'words that are names too are left out'],
  ['pgjdbc: catalogs', oneDatabase],
  ['pgjdbc: getUDTs', moreTypes],
  ['pgx: types of a database', moreTypes],
  ['pgx: oid of a name', 'the parser takes oid for int8, which names the column'],
  [String.raw`psql: \l`, oneDatabase],
  [String.raw`psql: \du`, owner],
  [String.raw`psql: \dt+`, noSizes],
  [String.raw`psql: \d+ acme.trips (2)`, 'null and a list are null here'],
  [String.raw`psql: \dx`, more],
  [String.raw`psql: \db`, more],
  [String.raw`psql: \dC`, more],
  [String.raw`psql: \dL`, more],
  ['SQLAlchemy: get_indexes', 'there are no kinds of indexes'],
  ['SQLAlchemy: get_indexes (2)', 'there are no kinds of indexes'],
])
