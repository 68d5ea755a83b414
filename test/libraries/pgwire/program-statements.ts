// What PostgreSQL programs ask of the catalogue when they start, list tables and look at columns: program, what for, statement.
// Data, in statements/.

import { dbt, grafana, metabase, powerBI, superset, tableau } from './statements/dashboards.ts'
import { dataGrip, duckdb, npgsql, pgAdmin, pgx, psqlODBC, psycopg } from './statements/drivers.ts'
import { dbeaver, pgjdbc } from './statements/jdbc.ts'
import { adbc, pgAdminTree, pgcli } from './statements/python.ts'
import { drizzle, libreOffice, perl, qgis, rails } from './statements/others.ts'
import { psql } from './statements/psql.ts'
import { asyncpg, sqlAlchemy } from './statements/sqlalchemy.ts'

const programs = {
  ADBC: adbc,
  asyncpg,
  DataGrip: dataGrip,
  DBeaver: dbeaver,
  'DBD::Pg': perl,
  dbt,
  Drizzle: drizzle,
  DuckDB: duckdb,
  Grafana: grafana,
  LibreOffice: libreOffice,
  Metabase: metabase,
  Npgsql: npgsql,
  pgAdmin,
  'pgAdmin, tree': pgAdminTree,
  pgcli,
  pgjdbc,
  pgx,
  'Power BI': powerBI,
  psql,
  psqlODBC,
  psycopg,
  QGIS: qgis,
  Rails: rails,
  SQLAlchemy: sqlAlchemy,
  Superset: superset,
  Tableau: tableau,
}

/** `program: what it asks for`, and the statement. */
export const programStatements: readonly (readonly [name: string, sql: string])[] = Object.entries(programs).flatMap(
  ([program, statements]) => statements.map(([asks, sql]) => [`${program}: ${asks}`, sql] as const),
)
