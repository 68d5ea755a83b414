// What dashboards and dbt send when they connect and list tables and columns. Data; `{trips}` is the number of that
// table.

export const metabase: readonly (readonly [asks: string, sql: string])[] = [
  [
    'tables by rights',
    `
      with table_privileges as (select NULL as role, t.schemaname as schema, t.objectname as table,
      pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"'
      || replace(t.objectname, '"', '""') || '"', 'update') as update,
      pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"'
      || replace(t.objectname, '"', '""') || '"', 'select') as select, pg_catalog.has_table_privilege(current_user,
      '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',
      'delete') as delete from (select schemaname, tablename as objectname from pg_catalog.pg_tables union select
      schemaname, viewname as objectname from pg_catalog.pg_views union select schemaname, matviewname as objectname
      from pg_catalog.pg_matviews) t where t.schemaname !~ '^pg_' and t.schemaname <> 'information_schema' and
      pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage')) select t.* from table_privileges t`,
  ],
  [
    'tables',
    `
      SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN
      'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE
      NULL END AS type, d.description AS description, NULLIF(stat.n_live_tup, 0) AS estimated_row_count FROM
      pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid LEFT JOIN
      pg_catalog.pg_description AS d ON (c.oid = d.objoid) AND (d.objsubid = 0) AND (d.classoid =
      'pg_class'::regclass) LEFT JOIN pg_stat_user_tables AS stat ON (n.nspname = stat.schemaname) AND (c.relname =
      stat.relname) WHERE (c.relnamespace = n.oid) AND (n.nspname !~ '^pg_') AND (n.nspname <> 'information_schema')
      AND c.relkind IN ('r', 'p', 'v', 'f', 'm') AND n.nspname IN ('acme') ORDER BY type ASC, schema ASC, name ASC`,
  ],
  [
    'fields',
    `
      SELECT c.column_name AS name, c.udt_name AS "database-type", c.ordinal_position - 1 AS "database-position",
      c.table_schema AS "table-schema", c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?",
      COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST(c.table_schema AS TEXT), CAST(c.table_name AS TEXT)) AS REGCLASS)
      AS OID), c.ordinal_position) AS "field-comment", ((column_default IS NULL) OR (LOWER(column_default) = 'null'))
      AND (is_nullable = 'NO') AND NOT (((column_default IS NOT NULL) AND (column_default LIKE '%nextval(%')) OR
      (is_identity <> 'NO')) AS "database-required", ((column_default IS NOT NULL) AND (column_default LIKE
      '%nextval(%')) OR (is_identity <> 'NO') AS "database-is-auto-increment" FROM information_schema.columns AS c
      LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints AS tc
      INNER JOIN information_schema.key_column_usage AS kc ON (tc.constraint_name = kc.constraint_name) AND
      (tc.table_schema = kc.table_schema) AND (tc.table_name = kc.table_name) WHERE tc.constraint_type =
      'PRIMARY KEY') AS pk ON (c.table_schema = pk.table_schema) AND (c.table_name = pk.table_name) AND (c.column_name
      = pk.column_name) WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND (c.table_schema IN
      ('acme')) AND (c.table_name IN ('trips')) UNION ALL SELECT pa.attname AS name, CASE WHEN ptn.nspname IN ('acme',
      'pg_catalog') THEN FORMAT('%s', pt.typname) ELSE FORMAT('"%s"."%s"', ptn.nspname, pt.typname) END AS
      "database-type", pa.attnum - 1 AS "database-position", pn.nspname AS "table-schema", pc.relname AS "table-name",
      FALSE AS "pk?", NULL AS "field-comment", FALSE AS "database-required", FALSE AS "database-is-auto-increment"
      FROM pg_catalog.pg_class AS pc INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pc.relnamespace INNER JOIN
      pg_catalog.pg_attribute AS pa ON pa.attrelid = pc.oid INNER JOIN pg_catalog.pg_type AS pt ON pt.oid =
      pa.atttypid INNER JOIN pg_catalog.pg_namespace AS ptn ON ptn.oid = pt.typnamespace WHERE (pc.relkind = 'm') AND
      (pa.attnum >= 1) ORDER BY "table-schema" ASC, "table-name" ASC, "database-position" ASC`,
  ],
  [
    'foreign keys',
    `
      SELECT fk_ns.nspname AS "fk-table-schema", fk_table.relname AS "fk-table-name", fk_column.attname AS
      "fk-column-name", pk_ns.nspname AS "pk-table-schema", pk_table.relname AS "pk-table-name", pk_column.attname AS
      "pk-column-name" FROM pg_constraint AS c INNER JOIN pg_class AS fk_table ON c.conrelid = fk_table.oid INNER JOIN
      pg_namespace AS fk_ns ON c.connamespace = fk_ns.oid INNER JOIN pg_attribute AS fk_column ON c.conrelid =
      fk_column.attrelid INNER JOIN pg_class AS pk_table ON c.confrelid = pk_table.oid INNER JOIN pg_namespace AS
      pk_ns ON pk_table.relnamespace = pk_ns.oid INNER JOIN pg_attribute AS pk_column ON c.confrelid =
      pk_column.attrelid WHERE fk_ns.nspname !~ '^information_schema|catalog_history|pg_' AND c.contype = 'f'::char
      AND fk_column.attnum = ANY(c.conkey) AND pk_column.attnum = ANY(c.confkey) ORDER BY fk_ns.nspname,
      fk_table.relname`,
  ],
  [
    'enums',
    `
      SELECT nspname, typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT
      DISTINCT enumtypid FROM pg_enum e)`,
  ],
  [
    'indexes',
    `
      SELECT tmp."table-schema", tmp."table-name", TRIM(BOTH '"' FROM pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos,
      FALSE)) AS "field-name" FROM (SELECT n.nspname AS "table-schema", ct.relname AS "table-name", ci.oid AS ci_oid,
      (information_schema._pg_expandarray(i.indkey)).n AS pos FROM pg_catalog.pg_class AS ct INNER JOIN
      pg_catalog.pg_namespace AS n ON ct.relnamespace = n.oid INNER JOIN pg_catalog.pg_index AS i ON ct.oid =
      i.indrelid INNER JOIN pg_catalog.pg_class AS ci ON ci.oid = i.indexrelid WHERE
      (pg_catalog.pg_get_expr(i.indpred, i.indrelid) IS NULL) AND n.nspname !~
      '^information_schema|catalog_history|pg_') AS tmp WHERE tmp.pos = 1`,
  ],
]

export const grafana: readonly (readonly [asks: string, sql: string])[] = [
  ['version', `SELECT current_setting('server_version_num')::int/100 as version`],
  [
    'tables',
    `
      select quote_ident(table_name) as "table" from information_schema.tables where quote_ident(table_schema) not in
      ('information_schema', 'pg_catalog', '_timescaledb_cache') and quote_ident(table_schema) IN (SELECT CASE WHEN
      trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM
      generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),
      array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
      string_to_array(current_setting('search_path'),',') s)`,
  ],
  [
    'all tables',
    `
      SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i])
      END FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),
      array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
      string_to_array(current_setting('search_path'),',') s) THEN quote_ident(table_name) ELSE
      quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables WHERE
      quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache',
      '_timescaledb_catalog') ORDER BY CASE WHEN quote_ident(table_schema) IN ('acme') THEN 0 ELSE 1 END, 1`,
  ],
  [
    'columns',
    `
      SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE CASE WHEN
      array_length(parse_ident('acme.trips'),1) = 2 THEN quote_ident(table_schema) = (parse_ident('acme.trips'))[1]
      AND quote_ident(table_name) = (parse_ident('acme.trips'))[2] ELSE quote_ident(table_name) = 'acme.trips' END`,
  ],
  [
    'time columns',
    `
      SELECT quote_ident(column_name) FROM information_schema.columns WHERE table_name = 'trips' AND data_type IN
      ('timestamp without time zone','timestamp with time zone','bigint','integer','double precision','real') ORDER BY
      1`,
  ],
]

export const superset: readonly (readonly [asks: string, sql: string])[] = [
  ['first statement', 'SELECT 1 AS one WHERE current_database() IS NOT NULL'],
  ['databases', 'SELECT datname FROM pg_database WHERE datistemplate = false'],
]

export const powerBI: readonly (readonly [asks: string, sql: string])[] = [
  [
    'tables',
    `
      select TABLE_CATALOG, TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE from INFORMATION_SCHEMA.tables where TABLE_SCHEMA not
      in ('information_schema', 'pg_catalog') order by TABLE_SCHEMA, TABLE_NAME`,
  ],
  [
    'columns',
    `
      select COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, case when (data_type like '%unsigned%') then DATA_TYPE ||
      ' unsigned' else DATA_TYPE end as DATA_TYPE from INFORMATION_SCHEMA.columns where TABLE_SCHEMA = 'acme' and
      TABLE_NAME = 'trips' order by TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION`,
  ],
  [
    'keys',
    `
      select i.CONSTRAINT_SCHEMA || '_' || i.CONSTRAINT_NAME as INDEX_NAME, ii.COLUMN_NAME, ii.ORDINAL_POSITION, case
      when i.CONSTRAINT_TYPE = 'PRIMARY KEY' then 'Y' else 'N' end as PRIMARY_KEY from
      INFORMATION_SCHEMA.table_constraints i inner join INFORMATION_SCHEMA.key_column_usage ii on i.CONSTRAINT_SCHEMA
      = ii.CONSTRAINT_SCHEMA and i.CONSTRAINT_NAME = ii.CONSTRAINT_NAME and i.TABLE_SCHEMA = ii.TABLE_SCHEMA and
      i.TABLE_NAME = ii.TABLE_NAME where i.TABLE_SCHEMA = 'acme' and i.TABLE_NAME = 'trips' and i.CONSTRAINT_TYPE in
      ('PRIMARY KEY', 'UNIQUE') order by 1, ii.ORDINAL_POSITION`,
  ],
  [
    'foreign keys',
    `
      select pkcol.COLUMN_NAME as PK_COLUMN_NAME, fkcol.TABLE_SCHEMA AS FK_TABLE_SCHEMA, fkcol.TABLE_NAME AS
      FK_TABLE_NAME, fkcol.COLUMN_NAME as FK_COLUMN_NAME, fkcol.ORDINAL_POSITION as ORDINAL, fkcon.CONSTRAINT_SCHEMA
      || '_' || fkcol.TABLE_NAME || '_' || 'trips' || '_' || fkcon.CONSTRAINT_NAME as FK_NAME from (select distinct
      constraint_catalog, constraint_schema, unique_constraint_schema, constraint_name, unique_constraint_name from
      INFORMATION_SCHEMA.referential_constraints) fkcon inner join INFORMATION_SCHEMA.key_column_usage fkcol on
      fkcon.CONSTRAINT_SCHEMA = fkcol.CONSTRAINT_SCHEMA and fkcon.CONSTRAINT_NAME = fkcol.CONSTRAINT_NAME inner join
      INFORMATION_SCHEMA.key_column_usage pkcol on fkcon.UNIQUE_CONSTRAINT_SCHEMA = pkcol.CONSTRAINT_SCHEMA and
      fkcon.UNIQUE_CONSTRAINT_NAME = pkcol.CONSTRAINT_NAME where pkcol.TABLE_SCHEMA = 'acme' and pkcol.TABLE_NAME =
      'trips' and pkcol.ORDINAL_POSITION = fkcol.ORDINAL_POSITION order by FK_NAME, fkcol.ORDINAL_POSITION`,
  ],
  ['character set', 'select character_set_name from INFORMATION_SCHEMA.character_sets'],
]

export const tableau: readonly (readonly [asks: string, sql: string])[] = [
  [
    'tables',
    `
      SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME, c.relkind FROM
      pg_catalog.pg_namespace n, pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND (c.relkind IN ('r', 'v', 'm',
      'f', 'p')) AND pg_catalog.has_schema_privilege(n.oid, 'USAGE'::text) AND pg_catalog.has_table_privilege(c.oid,
      'SELECT'::text) AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ORDER BY TABLE_SCHEM,
      TABLE_NAME`,
  ],
  [
    'key columns',
    `
      SELECT "kcu"."column_name" FROM "information_schema"."table_constraints" "tc" INNER JOIN
      "information_schema"."key_column_usage" "kcu" ON ("tc"."constraint_name" = "kcu"."constraint_name") WHERE
      "tc"."constraint_type" = 'PRIMARY KEY' AND "tc"."table_schema" = 'acme' AND "tc"."table_name" = 'trips'`,
  ],
  [
    'comments',
    `
      select ns.nspname, cl.relname, d.description from pg_catalog.pg_class cl join pg_catalog.pg_namespace ns on
      ns.oid = cl.relnamespace left join pg_catalog.pg_description d on d.objoid = cl.oid and d.objsubid = 0 where
      cl.relkind = 'r' and ns.nspname = 'acme'`,
  ],
]

export const dbt: readonly (readonly [asks: string, sql: string])[] = [
  ['schemas', 'select distinct nspname from pg_namespace'],
  ['schema exists', `select count(*) from pg_namespace where nspname = 'acme'`],
  [
    'relations',
    `
      select 'postgres' as database, tablename as name, schemaname as schema, 'table' as type from pg_tables where
      schemaname ilike 'acme' union all select 'postgres' as database, viewname as name, schemaname as schema, 'view'
      as type from pg_views where schemaname ilike 'acme' union all select 'postgres' as database, matviewname as
      name, schemaname as schema, 'materialized_view' as type from pg_matviews where schemaname ilike 'acme'`,
  ],
  [
    'columns',
    `
      select column_name, data_type, character_maximum_length, numeric_precision, numeric_scale from
      "postgres".INFORMATION_SCHEMA.columns where table_name = 'trips' and table_schema = 'acme' order by
      ordinal_position`,
  ],
  [
    'dependencies',
    String.raw`
      with relation as (select pg_rewrite.ev_class as class, pg_rewrite.oid as id from pg_rewrite), class as (select
      oid as id, relname as name, relnamespace as schema, relkind as kind from pg_class), dependency as (select
      distinct pg_depend.objid as id, pg_depend.refobjid as ref from pg_depend), schema as (select pg_namespace.oid as
      id, pg_namespace.nspname as name from pg_namespace where nspname != 'information_schema' and nspname not like
      'pg\_%'), referenced as (select relation.id AS id, referenced_class.name, referenced_class.schema,
      referenced_class.kind from relation join class as referenced_class on relation.class=referenced_class.id where
      referenced_class.kind in ('r', 'v', 'm')), relationships as (select referenced.name as referenced_name,
      referenced.schema as referenced_schema_id, dependent_class.name as dependent_name, dependent_class.schema as
      dependent_schema_id, referenced.kind as kind from referenced join dependency on referenced.id=dependency.id join
      class as dependent_class on dependency.ref=dependent_class.id where (referenced.name != dependent_class.name or
      referenced.schema != dependent_class.schema)) select referenced_schema.name as referenced_schema,
      relationships.referenced_name as referenced_name, dependent_schema.name as dependent_schema,
      relationships.dependent_name as dependent_name from relationships join schema as dependent_schema on
      relationships.dependent_schema_id=dependent_schema.id join schema as referenced_schema on
      relationships.referenced_schema_id=referenced_schema.id group by referenced_schema, referenced_name,
      dependent_schema, dependent_name order by referenced_schema, referenced_name, dependent_schema, dependent_name`,
  ],
  [
    'catalog',
    `
      select 'postgres' as table_database, sch.nspname as table_schema, tbl.relname as table_name, case tbl.relkind
      when 'v' then 'VIEW' when 'm' then 'MATERIALIZED VIEW' else 'BASE TABLE' end as table_type, tbl_desc.description
      as table_comment, col.attname as column_name, col.attnum as column_index, pg_catalog.format_type(col.atttypid,
      col.atttypmod) as column_type, col_desc.description as column_comment, pg_get_userbyid(tbl.relowner) as
      table_owner from pg_catalog.pg_namespace sch join pg_catalog.pg_class tbl on tbl.relnamespace = sch.oid join
      pg_catalog.pg_attribute col on col.attrelid = tbl.oid left outer join pg_catalog.pg_description tbl_desc on
      (tbl_desc.objoid = tbl.oid and tbl_desc.objsubid = 0) left outer join pg_catalog.pg_description col_desc on
      (col_desc.objoid = tbl.oid and col_desc.objsubid = col.attnum) where (upper(sch.nspname) = upper('acme')) and
      not pg_is_other_temp_schema(sch.oid) and tbl.relpersistence in ('p', 'u') and tbl.relkind in ('r', 'v', 'f',
      'p', 'm') and col.attnum > 0 and not col.attisdropped order by sch.nspname, tbl.relname, col.attnum`,
  ],
]
