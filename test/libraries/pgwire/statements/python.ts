// What programs of Python send when they connect and list tables and columns. Data; `{trips}` is the number of that table.

export const adbc: readonly (readonly [asks: string, sql: string])[] = [
  [
    'types',
    `
      SELECT oid, typname, typreceive, typbasetype, typrelid, typarray FROM pg_catalog.pg_type WHERE (typreceive != 0
      OR typsend != 0) AND typtype != 'r' AND typreceive::TEXT != 'array_recv'`,
  ],
  [
    'columns of a table',
    `
      SELECT attname, atttypid FROM pg_catalog.pg_class AS cls INNER JOIN pg_catalog.pg_attribute AS attr ON cls.oid =
      attr.attrelid INNER JOIN pg_catalog.pg_type AS typ ON attr.atttypid = typ.oid WHERE attr.attnum >= 0 AND cls.oid =
      '"acme"."trips"'::regclass::oid ORDER BY attr.attnum`,
  ],
]

export const pgcli: readonly (readonly [asks: string, sql: string])[] = [
  [
    'tables',
    `
      SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END AS
      type, pg_catalog.pg_get_userbyid(c.relowner) AS owner FROM pg_catalog.pg_class c LEFT JOIN
      pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = ANY('{"r","p",""}') AND n.nspname !~
      '^pg_toast' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND pg_catalog.pg_table_is_visible(c.oid)
      ORDER BY 1, 2`,
  ],
  [
    'columns for completion',
    `
      SELECT nsp.nspname schema_name, cls.relname table_name, att.attname column_name,
      att.atttypid::regtype::text type_name, att.atthasdef AS has_default, pg_catalog.pg_get_expr(def.adbin,
      def.adrelid, true) AS default FROM pg_catalog.pg_attribute att INNER JOIN pg_catalog.pg_class cls ON att.attrelid
      = cls.oid INNER JOIN pg_catalog.pg_namespace nsp ON cls.relnamespace = nsp.oid LEFT OUTER JOIN
      pg_attrdef def ON def.adrelid = att.attrelid AND def.adnum = att.attnum WHERE cls.relkind = ANY(array['r', 'v'])
      AND NOT att.attisdropped AND att.attnum > 0 AND nsp.nspname IN ('acme', 'Zoo') ORDER BY 1, 2, att.attnum`,
  ],
]

export const pgAdminTree: readonly (readonly [asks: string, sql: string])[] = [
  [
    'rights of a table',
    `
      SELECT coalesce(g.rolname, 'PUBLIC') AS grantee, d.privilege_type FROM (SELECT (a).grantee AS grantee,
      (a).privilege_type AS privilege_type FROM (SELECT pg_catalog.aclexplode(relacl) AS a FROM pg_catalog.pg_class
      WHERE oid = {trips}::oid) AS e) AS d LEFT JOIN pg_catalog.pg_roles g ON d.grantee = g.oid ORDER BY 1`,
  ],
  [
    'properties of a table',
    `
      SELECT rel.oid::int8, rel.relname AS name, substring(array_to_string(rel.reloptions, ',') FROM
      'fillfactor=([0-9]*)') AS fillfactor, (SELECT pg_catalog.array_agg(provider || '=' || label) FROM
      pg_catalog.pg_seclabels sl1 WHERE sl1.objoid = rel.oid AND sl1.objsubid = 0) AS seclabels, (SELECT count(*) FROM
      pg_catalog.pg_stat_all_tables s WHERE s.n_dead_tup > 0 AND s.relid = rel.oid) AS dead FROM pg_catalog.pg_class rel
      WHERE rel.oid = {trips}::oid`,
  ],
  [
    'columns of a table',
    `
      SELECT at.attname AS name, at.attnum, at.attnotnull, pg_catalog.format_type(at.atttypid, at.atttypmod) AS type
      FROM pg_catalog.pg_attribute at LEFT JOIN pg_catalog.pg_attrdef AS def ON at.attrelid = def.adrelid AND at.attnum
      = def.adnum WHERE at.attrelid = {trips}::oid AND at.attnum > 0 ORDER BY at.attnum`,
  ],
  [
    'indexes of a table',
    `
      SELECT DISTINCT ON (cls.relname) cls.oid, cls.relname AS name FROM pg_catalog.pg_index idx JOIN
      pg_catalog.pg_class cls ON cls.oid = indexrelid LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid
      AND dep.objid = cls.oid AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint'))
      LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid) WHERE
      indrelid = {trips}::oid AND conname IS NULL ORDER BY cls.relname`,
  ],
  [
    'where servers are copied',
    `
      SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_is_wal_replay_paused() ELSE false END AS
      is_paused, (SELECT count(*) FROM pg_catalog.pg_replication_slots) > 0 AS has_slots`,
  ],
]
