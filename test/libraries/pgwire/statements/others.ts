// What GIS programs, office programs and the mappers of several languages ask of the catalogue. Data; `{trips}` is the number of
// that table.

export const qgis: readonly (readonly [asks: string, sql: string])[] = [
  ['kind of a table', `select c.relkind from pg_class c where c.oid = regclass('"acme"."trips"')::oid`],
  ['number of a relation', `select regclass('pg_class')::oid is not null as is_there`],
  [
    'comment',
    `select d.description from pg_description d where d.objoid = regclass('"acme"."trips"')::oid and d.objsubid = 0`,
  ],
  [
    'owner',
    `
      select count(*) from pg_class c, pg_namespace n where c.relnamespace = n.oid and pg_has_role(c.relowner, 'MEMBER')
      and c.relname = 'trips' and n.nspname = 'acme'`,
  ],
]

export const libreOffice: readonly (readonly [asks: string, sql: string])[] = [
  [
    'rights',
    `
      select g.table_name, g.privilege_type from information_schema.table_privileges g, (select oid, rolname from
      pg_catalog.pg_roles union all values (0, 'PUBLIC')) r where g.table_schema like 'acme' and g.table_name like
      'nothing' and (g.grantee = 'PUBLIC' or pg_has_role(r.oid, g.grantee, 'USAGE')) order by 1, 2`,
  ],
]

export const rails: readonly (readonly [asks: string, sql: string])[] = [
  [
    'arrays',
    `
      select t.typname from pg_type t where t.typinput = 'array_in(cstring,oid,integer)'::regprocedure and t.typname in
      ('_text', '_int4') order by t.oid`,
  ],
]

export const drizzle: readonly (readonly [asks: string, sql: string])[] = [
  [
    'columns',
    `
      select a.attname, case when a.atttypid = 'int'::regtype and exists (select from pg_attrdef d
      where d.adrelid = a.attrelid and d.adnum = a.attnum) then 'serial' else format_type(a.atttypid, a.atttypmod) end
      as kind from pg_attribute a where a.attrelid = {trips} and a.attnum > 0 order by a.attnum`,
  ],
]

export const perl: readonly (readonly [asks: string, sql: string])[] = [
  [
    'order of an index',
    `
      select i.indexrelid, case when pg_catalog.pg_index_column_has_property(i.indexrelid, 1, 'asc') then 'A' end as
      direction from pg_index i where i.indrelid = {trips}`,
  ],
]
