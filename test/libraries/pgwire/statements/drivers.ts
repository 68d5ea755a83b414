// What drivers and clients send when they connect and list tables and columns. Data; `{trips}` is the number of that
// table.

export const npgsql: readonly (readonly [asks: string, sql: string])[] = [
  [
    'types',
    `
      SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM ( SELECT typ.oid,
      typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind, elemtyp.oid AS
      elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind, CASE WHEN
      elemproc.proname='array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype, typ.typcategory FROM (SELECT
      typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, typcategory, CASE WHEN
      proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype, CASE WHEN proc.proname='array_recv' THEN
      typ.typelem WHEN typ.typtype='r' THEN rngsubtype WHEN typ.typtype='m' THEN (SELECT rngtypid FROM pg_range WHERE
      rngmultitypid = typ.oid) WHEN typ.typtype='d' THEN typ.typbasetype END AS elemtypoid FROM pg_type AS typ LEFT
      JOIN pg_class AS cls ON (cls.oid = typ.typrelid) LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive LEFT
      JOIN pg_range ON (pg_range.rngtypid = typ.oid)) AS typ LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
      LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid) LEFT JOIN pg_proc AS elemproc ON elemproc.oid
      = elemtyp.typreceive) AS t JOIN pg_namespace AS ns ON (ns.oid = typnamespace) WHERE typtype IN ('b', 'r', 'm',
      'e', 'd') OR (typtype = 'c' AND relkind='c') OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR
      (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (elemtyptype = 'p' AND elemtypname IN ('record',
      'void')) OR (elemtyptype = 'c' AND elemrelkind='c'))) ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN
      typtype = 'c' THEN 1 WHEN typtype = 'r' THEN 2 WHEN typtype = 'm' THEN 3 WHEN typtype = 'd' AND elemtyptype <>
      'a' THEN 4 WHEN typtype = 'a' THEN 5 WHEN typtype = 'd' AND elemtyptype = 'a' THEN 6 END`,
  ],
  [
    'composites',
    `
      SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ JOIN pg_namespace AS ns ON (ns.oid =
      typ.typnamespace) JOIN pg_class AS cls ON (cls.oid = typ.typrelid) JOIN pg_attribute AS att ON (att.attrelid =
      typ.typrelid) WHERE (typ.typtype = 'c' AND cls.relkind='c') AND attnum > 0 AND NOT attisdropped ORDER BY
      typ.oid, att.attnum`,
  ],
  [
    'enums',
    `SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid=enumtypid ORDER BY oid, enumsortorder`,
  ],
  [
    'columns of an answer',
    `
      SELECT typ.oid AS typoid, nspname, relname, attname, attrelid, attnum, attnotnull, attidentity != '' AS
      isidentity, CASE WHEN typ.typtype = 'd' THEN typ.typtypmod ELSE atttypmod END AS typmod, CASE WHEN atthasdef
      THEN (SELECT pg_get_expr(adbin, cls.oid) FROM pg_attrdef WHERE adrelid = cls.oid AND adnum = attr.attnum) ELSE
      NULL END AS default, CASE WHEN (SELECT count(*) FROM pg_index WHERE indrelid = cls.oid AND indisunique AND
      attnum = ANY (indkey)) > 0 THEN TRUE ELSE FALSE END AS isunique, CASE WHEN (SELECT count(*) FROM pg_index WHERE
      indrelid = cls.oid AND indisprimary AND attnum = ANY (indkey)) > 0 THEN TRUE ELSE FALSE END AS iskey FROM
      pg_attribute AS attr JOIN pg_type AS typ ON attr.atttypid = typ.oid JOIN pg_class AS cls ON cls.oid =
      attr.attrelid JOIN pg_namespace AS ns ON ns.oid = cls.relnamespace WHERE atttypid <> 0 AND relkind IN ('r', 'v',
      'm') AND NOT attisdropped AND nspname NOT IN ('pg_catalog', 'information_schema') AND attnum > 0 AND
      ((attr.attrelid={trips} AND attr.attnum=1) OR (attr.attrelid={trips} AND attr.attnum=2)) ORDER BY attnum`,
  ],
]

export const psqlODBC: readonly (readonly [asks: string, sql: string])[] = [
  [
    'tables',
    `
      select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r',
      'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') and n.oid =
      relnamespace order by nspname, relname`,
  ],
  [
    'columns',
    `
      select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull,
      c.relhasrules, c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid), case t.typtype when 'd' then t.typbasetype
      else 0 end, t.typtypmod, 0, attidentity, c.relhassubclass from (((pg_catalog.pg_class c inner join
      pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname = E'trips' and n.nspname = E'acme') inner join
      pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid) inner join
      pg_catalog.pg_type t on t.oid = a.atttypid) left outer join pg_attrdef d on a.atthasdef and d.adrelid =
      a.attrelid and d.adnum = a.attnum order by n.nspname, c.relname, attnum`,
  ],
  [
    'primary keys',
    `
      select ta.attname, ia.attnum, ic.relname, n.nspname, tc.relname from pg_catalog.pg_attribute ta,
      pg_catalog.pg_attribute ia, pg_catalog.pg_class tc, pg_catalog.pg_index i, pg_catalog.pg_namespace n,
      pg_catalog.pg_class ic where tc.relname = 'trips' AND n.nspname = 'acme' AND tc.oid = i.indrelid AND n.oid =
      tc.relnamespace AND i.indisprimary = 't' AND ia.attrelid = i.indexrelid AND ta.attrelid = i.indrelid AND
      ta.attnum = i.indkey[ia.attnum-1] AND (NOT ta.attisdropped) AND (NOT ia.attisdropped) AND ic.oid = i.indexrelid
      order by ia.attnum`,
  ],
  [
    'indexes',
    `
      select c.relname, i.indkey, i.indisunique, i.indisclustered, a.amname, c.relhasrules, n.nspname, c.oid, case
      when i.indexprs is null then false else true end, case when i.indpred is null then false else true end,
      i.indoption, pg_get_indexdef(i.indexrelid, 1, true) from pg_catalog.pg_index i, pg_catalog.pg_class c,
      pg_catalog.pg_class d, pg_catalog.pg_am a, pg_catalog.pg_namespace n where d.relname = 'trips' and n.nspname =
      'acme' and n.oid = d.relnamespace and d.oid = i.indrelid and i.indexrelid = c.oid and c.relam = a.oid order by
      i.indisprimary desc, i.indisunique, n.nspname, c.relname`,
  ],
  [
    'foreign keys',
    `
      select c2.relname as "PKTABLE", c1.relname as "FKTABLE", a1.attname as "FKCOLUMN", i::int2 as "KEY_SEQ" from
      ((((select conrelid, conkey, confrelid, generate_series(array_lower(conkey, 1), array_upper(conkey, 1)) as i from
      pg_catalog.pg_constraint k, pg_catalog.pg_class c where contype = 'f' and confrelid = c.oid and relname =
      'trips') ref inner join pg_catalog.pg_class c1 on c1.oid = ref.conrelid) inner join pg_catalog.pg_attribute a1
      on a1.attrelid = c1.oid and a1.attnum = conkey[i]) inner join pg_catalog.pg_class c2 on c2.oid = ref.confrelid)
      order by ref.i`,
  ],
  ['large objects', `select oid, typbasetype from pg_type where typname = 'lo'`],
  ['schema', 'select current_schema()'],
  [
    'schemas',
    `
      select nspname, '' from pg_catalog.pg_namespace where nspname not in ('pg_catalog', 'information_schema',
      'pg_toast', 'pg_temp_1') order by nspname`,
  ],
]

export const pgx: readonly (readonly [asks: string, sql: string])[] = [
  [
    'a type',
    `
      select t.typname, t.typbasetype, t.typelem, t.typtype::text, case when typtype = 'd' then t.typbasetype when
      typcategory = 'A' then t.typelem else 0 end from pg_type t where t.oid = 'text[]'::text::regtype`,
  ],
  [
    'types of a database',
    `
      select t.oid, case when nsp.nspname in ('pg_catalog', 'public') then t.typname else nsp.nspname||'.'||t.typname
      end from pg_type t left join pg_type base_type on t.typelem=base_type.oid left join pg_namespace nsp on
      t.typnamespace=nsp.oid where (t.typtype in('b', 'p', 'r', 'e') and (base_type.oid is null or base_type.typtype
      in('b', 'p', 'r')))`,
  ],
  ['oid of a name', `select 'numeric'::text::regtype::oid`],
]

export const psycopg: readonly (readonly [asks: string, sql: string])[] = [
  [
    'hstore',
    `SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname = 'hstore'`,
  ],
  [
    'a type',
    `
      SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter FROM
      pg_type t WHERE t.oid = to_regtype('int4') ORDER BY t.oid`,
  ],
]

export const duckdb: readonly (readonly [asks: string, sql: string])[] = [
  ['version', `SELECT version(), (SELECT COUNT(*) FROM pg_settings WHERE name LIKE 'rds%')`],
  [
    'schemas',
    `
      SELECT oid, nspname FROM pg_namespace WHERE nspname != 'pg_catalog' AND nspname != 'information_schema' AND
      nspname NOT LIKE 'pg_toast%' ORDER BY oid`,
  ],
  [
    'tables',
    `
      SELECT pg_namespace.oid AS namespace_id, relname, relpages, attname, pg_type.typname type_name, atttypmod
      type_modifier, pg_attribute.attndims ndim, attnum, pg_attribute.attnotnull AS notnull, NULL constraint_id, NULL
      constraint_type, NULL constraint_key FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid JOIN
      pg_attribute ON pg_class.oid=pg_attribute.attrelid JOIN pg_type ON atttypid=pg_type.oid WHERE attnum > 0 AND
      relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname = 'acme' UNION ALL SELECT pg_namespace.oid AS namespace_id,
      relname, NULL relpages, NULL attname, NULL type_name, NULL type_modifier, NULL ndim, NULL attnum, NULL AS
      notnull, pg_constraint.oid AS constraint_id, contype AS constraint_type, conkey AS constraint_key FROM pg_class
      JOIN pg_namespace ON relnamespace = pg_namespace.oid JOIN pg_constraint ON (pg_class.oid=pg_constraint.conrelid)
      WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND contype IN ('p', 'u') ORDER BY namespace_id, relname, attnum,
      constraint_id`,
  ],
  [
    'enums',
    `
      SELECT n.oid, enumtypid, typname, enumlabel FROM pg_enum e JOIN pg_type t ON e.enumtypid = t.oid JOIN
      pg_namespace AS n ON (typnamespace=n.oid) ORDER BY n.oid, enumtypid, enumsortorder`,
  ],
  [
    'composite types',
    `
      SELECT n.oid, t.typrelid AS id, t.typname as type, pg_attribute.attname, sub_type.typname FROM pg_type t JOIN
      pg_catalog.pg_namespace n ON n.oid = t.typnamespace JOIN pg_class ON pg_class.oid = t.typrelid JOIN pg_attribute
      ON attrelid=t.typrelid JOIN pg_type sub_type ON (pg_attribute.atttypid=sub_type.oid) WHERE pg_class.relkind =
      'c' AND t.typtype='c' ORDER BY n.oid, t.oid, attrelid, attnum`,
  ],
  [
    'indexes',
    `
      SELECT pg_namespace.oid, tablename, indexname FROM pg_indexes JOIN pg_namespace ON (schemaname=nspname) ORDER BY
      pg_namespace.oid`,
  ],
]

export const dataGrip: readonly (readonly [asks: string, sql: string])[] = [
  ['session', `select round(extract(epoch from pg_postmaster_start_time() at time zone 'UTC')) as startup_time`],
  [
    'state',
    `
      select case when pg_catalog.pg_is_in_recovery() then null else pg_catalog.txid_current()::varchar::bigint end as
      current_txid`,
  ],
  [
    'schemas',
    `
      select N.oid::bigint as id, N.nspname as name, D.description as description,
      pg_catalog.pg_get_userbyid(N.nspowner) as "owner" from pg_catalog.pg_namespace N left join
      pg_catalog.pg_description D on N.oid = D.objoid order by case when nspname = pg_catalog.current_schema() then
      -1::bigint else N.oid::bigint end`,
  ],
]

export const pgAdmin: readonly (readonly [asks: string, sql: string])[] = [
  [
    'start',
    `
      SELECT db.oid as did, db.datname, db.datallowconn, pg_encoding_to_char(db.encoding) AS serverencoding,
      has_database_privilege(db.oid, 'CREATE') as cancreate, datistemplate FROM pg_catalog.pg_database db WHERE
      db.datname = current_database()`,
  ],
  [
    'roles',
    `
      SELECT roles.oid as id, roles.rolname as name, roles.rolsuper as is_superuser, CASE WHEN roles.rolsuper THEN
      true ELSE roles.rolcreaterole END as can_create_role FROM pg_catalog.pg_roles as roles WHERE rolname =
      current_user`,
  ],
]
