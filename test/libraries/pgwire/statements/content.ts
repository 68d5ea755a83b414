// Two accounts with three datasets as a catalogue, and the same as statements for a PostgreSQL server.

import { must } from '../../../../src/libraries/base/assert.ts'
import {
  type CatalogueColumn,
  type CatalogueContent,
  numbered,
} from '../../../../src/libraries/pgwire/catalogue/numbered.ts'
import { pgTypes } from '../../../../src/libraries/pgwire/catalogue/types.ts'

function column(name: string, type: string, { modifier = -1, nullable = true } = {}): CatalogueColumn {
  return {
    name,
    type: must(
      pgTypes.find((one) => one.name === type),
      'a type of the door',
    ),
    modifier,
    nullable,
  }
}

const trips = [
  column('op', 'int4'),
  column('city', 'text', { nullable: false }),
  column('amount', 'int8'),
  column('price', 'numeric', { modifier: 655_366 }),
  column('at', 'timestamptz'),
  column('day', 'date'),
  column('ok', 'bool'),
  column('ratio', 'float8'),
  column('small', 'int2'),
  column('raw', 'bytea'),
  column('tags', '_text'),
]

export const content: CatalogueContent = {
  connection: {
    database: 'postgres',
    user: 'reader',
    version: 'PostgreSQL 15.0 (Proofstream 1.0)',
    processId: 7,
    path: ['acme', 'Zoo'],
    settings: {
      default_transaction_isolation: 'serializable',
      search_path: 'acme, "Zoo"',
      server_version: '15.0',
      server_version_num: '150000',
    },
  },
  datasets: [
    { account: 'acme', name: 'trips', columns: trips },
    { account: 'acme', name: 'odd-name', columns: [column('x', 'float4')] },
    { account: 'Zoo', name: 'blank', columns: [column('n', 'numeric', { modifier: 1_310_724 })] },
  ],
}

export const catalogue = numbered(content)

/** The same in a database, owned by roles of those names. */
export const setup = `
  drop schema public;
  create role acme; create role "Zoo"; create role proofstream;
  create schema acme authorization acme; create schema "Zoo" authorization "Zoo";
  create table acme.trips (op int4, city text not null, amount int8, price numeric(10,2), at timestamptz, day date, ok bool,
    ratio float8, small int2, raw bytea, tags text[]);
  create table acme."odd-name" (x float4);
  create table "Zoo".blank (n numeric(20,0));
  alter table acme.trips owner to acme; alter table acme."odd-name" owner to acme; alter table "Zoo".blank owner to "Zoo";
  alter role reader set search_path = acme, "Zoo";
`

/** Numbers of things by what they are: of the catalogue here. */
export const ownNumbers: ReadonlyMap<string, string> = new Map([
  ...catalogue.tables.map(({ name, oid }) => [`table ${name}`, String(oid)] as const),
  ...catalogue.schemas.map(({ name, oid }) => [`schema ${name}`, String(oid)] as const),
  ...catalogue.roles
    .filter(({ name }) => ['acme', 'Zoo'].includes(name))
    .map(({ name, oid }) => [`role ${name}`, String(oid)] as const),
])

/** The same of the server: a statement for rows of what a thing is and its number. */
export const numbersSql = `
  select 'table ' || relname, oid from pg_class where relname in ('trips', 'odd-name', 'blank')
  union all select 'schema ' || nspname, oid from pg_namespace where nspname in ('acme', 'Zoo')
  union all select 'role ' || rolname, oid from pg_roles where rolname in ('acme', 'Zoo')
`

/** The statement over tables with these numbers. */
export function over(sql: string, numbers: ReadonlyMap<string, string>): string {
  return sql.replaceAll(/\{(trips|odd-name|blank)\}/g, (_, name: string) => numbers.get(`table ${name}`) ?? '')
}
