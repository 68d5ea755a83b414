// What the JDBC driver of PostgreSQL sends for its metadata, and DBeaver over it. Data; `{trips}` is the number of
// that table.

export const pgjdbc: readonly (readonly [asks: string, sql: string])[] = [
  [
    'keywords that are left out',
    `
      select string_agg(word, ',' order by word) from pg_catalog.pg_get_keywords() where catcode = 'T' and word <> all
      ('{cross,"full",inner,"is it",left}'::text[])`,
  ],
  [
    'a column by a pattern',
    `
      select a.attname from pg_catalog.pg_attribute a where a.attrelid = {trips} and (a.attname like 'c\\_ty' or
      a.attname like 'cit\\y' or a.attname ilike 'OP\\%' or a.attname not like 'r%' and a.attnum > 7)`,
  ],
  ['start of a connection', 'SELECT version()'],
  [
    'getSchemas',
    `
      SELECT nspname AS TABLE_SCHEM, current_database() AS TABLE_CATALOG FROM pg_catalog.pg_namespace WHERE nspname <>
      'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~
      '^pg_toast_temp_' OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_'))
      ORDER BY TABLE_SCHEM`,
  ],
  [
    'getTables',
    `
      SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME", CASE n.nspname
      ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' OR n.nspname =
      'information_schema' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN
      'SYSTEM INDEX' ELSE NULL END WHEN n.nspname = 'pg_toast' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TOAST TABLE'
      WHEN 'i' THEN 'SYSTEM TOAST INDEX' ELSE NULL END ELSE CASE c.relkind WHEN 'r' THEN 'TEMPORARY TABLE' WHEN 'p'
      THEN 'TEMPORARY TABLE' WHEN 'i' THEN 'TEMPORARY INDEX' WHEN 'S' THEN 'TEMPORARY SEQUENCE' WHEN 'v' THEN
      'TEMPORARY VIEW' ELSE NULL END END WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN
      'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN 'P' then 'PARTITIONED INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v'
      THEN 'VIEW' WHEN 'c' THEN 'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END
      ELSE NULL END AS "TABLE_TYPE", d.description AS "REMARKS", '' as "TYPE_CAT", '' as "TYPE_SCHEM", '' as
      "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION" FROM pg_catalog.pg_namespace n,
      pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and
      d.classoid = 'pg_class'::regclass) WHERE c.relnamespace = n.oid AND n.nspname LIKE 'acme' AND c.relname LIKE '%'
      AND (false OR (c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema') OR (c.relkind =
      'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema')) ORDER BY
      "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME"`,
  ],
  [
    'getColumns',
    `
      SELECT * FROM (SELECT current_database() AS current_database, n.nspname,c.relname,a.attname,a.atttypid,
      a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod, row_number()
      OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,
      nullif(a.attgenerated, '') as attgenerated, pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS
      adsrc,dsc.description,t.typbasetype,t.typtype FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON
      (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid) JOIN pg_catalog.pg_type t ON
      (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)
      LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid) LEFT JOIN
      pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class') LEFT JOIN pg_catalog.pg_namespace dn
      ON (dc.relnamespace=dn.oid AND dn.nspname='pg_catalog') WHERE c.relkind in ('r','p','v','f','m') and a.attnum >
      0 AND NOT a.attisdropped AND n.nspname LIKE 'acme' AND c.relname LIKE 'trips') c WHERE true AND attname LIKE '%'
      ORDER BY nspname,c.relname,attnum`,
  ],
  [
    'getPrimaryKeys',
    `
      SELECT result.TABLE_CAT, result.TABLE_SCHEM, result.TABLE_NAME, result.COLUMN_NAME, result.KEY_SEQ,
      result.PK_NAME FROM (SELECT current_database() AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME,
      a.attname AS COLUMN_NAME, (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,
      information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM, i.indnkeyatts as KEY_COUNT FROM
      pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON
      (ct.relnamespace = n.oid) JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci
      ON (ci.oid = i.indexrelid) WHERE true AND n.nspname = 'acme' AND ct.relname = 'trips' AND i.indisprimary) result
      where result.A_ATTNUM = (result.KEYS).x AND result.KEY_SEQ <= KEY_COUNT ORDER BY result.table_name,
      result.pk_name, result.key_seq`,
  ],
  [
    'getImportedKeys',
    `
      SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS "PKTABLE_NAME",
      pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT", fkn.nspname AS "FKTABLE_SCHEM", fkc.relname
      AS "FKTABLE_NAME", fka.attname AS "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype WHEN 'c' THEN 0 WHEN
      'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "UPDATE_RULE", CASE
      con.confdeltype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3
      ELSE NULL END AS "DELETE_RULE", con.conname AS "FK_NAME", pkic.relname AS "PK_NAME", CASE WHEN con.condeferrable
      AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY" FROM
      pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka, pg_catalog.pg_namespace fkn,
      pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka, pg_catalog.pg_constraint con,
      pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid
      = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkn.oid = fkc.relnamespace
      AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid AND con.contype = 'f'
      AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid AND fkn.nspname = 'acme' AND
      fkc.relname = 'trips' ORDER BY pkn.nspname,pkc.relname, con.conname,pos.n`,
  ],
  [
    'getIndexInfo',
    `
      SELECT tmp.TABLE_CAT, tmp.TABLE_SCHEM, tmp.TABLE_NAME, tmp.NON_UNIQUE, tmp.INDEX_QUALIFIER, tmp.INDEX_NAME,
      tmp.TYPE, tmp.ORDINAL_POSITION, trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION,
      false)) AS COLUMN_NAME, CASE tmp.AM_NAME WHEN 'btree' THEN CASE tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] &
      1::smallint WHEN 1 THEN 'D' ELSE 'A' END ELSE NULL END AS ASC_OR_DESC, tmp.CARDINALITY, tmp.PAGES,
      tmp.FILTER_CONDITION FROM (SELECT current_database() AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS
      TABLE_NAME, NOT i.indisunique AS NON_UNIQUE, NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME, CASE
      i.indisclustered WHEN true THEN 1 ELSE CASE am.amname WHEN 'hash' THEN 2 ELSE 3 END END AS TYPE,
      (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION, ci.reltuples AS CARDINALITY, ci.relpages
      AS PAGES, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION, ci.oid AS CI_OID, i.indoption AS
      I_INDOPTION, am.amname AS AM_NAME FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_namespace n ON (ct.relnamespace
      = n.oid) JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid =
      i.indexrelid) JOIN pg_catalog.pg_am am ON (ci.relam = am.oid) WHERE true AND n.nspname = 'acme' AND ct.relname =
      'trips') AS tmp ORDER BY NON_UNIQUE, TYPE, INDEX_NAME, ORDINAL_POSITION`,
  ],
  [
    'getTypeInfo',
    `
      SELECT t.typname,t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON (t.typnamespace = n.oid)
      WHERE n.nspname != 'pg_toast' AND (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE
      c.oid = t.typrelid))`,
  ],
  [
    'type of a name',
    `
      SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM
      pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns join ( select
      s.r, (current_schemas(false))[s.r] as nspname from generate_series(1, array_upper(current_schemas(false), 1)) as
      s(r) ) as r using ( nspname )) as sp ON sp.nspoid = typnamespace WHERE typname = 'jsonb' ORDER BY sp.r,
      pg_type.oid DESC`,
  ],
  [
    'name of a type',
    `
      SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN
      pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = 1700`,
  ],
  [
    'types by SQL type',
    `SELECT t.oid, t.typname FROM pg_catalog.pg_type t WHERE t.typtype = 'd' AND t.typnamespace = 11`,
  ],
  [
    'columns of an answer',
    `
      SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull),
      a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid =
      a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid =
      a.attrelid AND d.adnum = a.attnum) JOIN (SELECT {trips} AS oid , 2 AS attnum UNION ALL SELECT {trips}, 3) vals
      ON (c.oid = vals.oid AND a.attnum = vals.attnum)`,
  ],
  [
    'keywords',
    `
      select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL
      ('{a,abs,absolute,action,all}'::text[])`,
  ],
  [
    'longest name',
    `
      SELECT t.typlen FROM pg_catalog.pg_type t, pg_catalog.pg_namespace n WHERE t.typnamespace=n.oid AND
      t.typname='name' AND n.nspname='pg_catalog'`,
  ],
  ['catalogs', `SELECT datname AS TABLE_CAT FROM pg_catalog.pg_database WHERE datallowconn = true ORDER BY datname`],
  [
    'getTablePrivileges',
    `
      SELECT n.nspname,c.relname,r.rolname,c.relacl FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c,
      pg_catalog.pg_roles r WHERE c.relnamespace = n.oid AND c.relowner = r.oid AND c.relkind IN ('r','p','v','m','f')
      AND n.nspname LIKE 'acme' ORDER BY nspname, relname`,
  ],
  [
    'getFunctions',
    `
      SELECT current_database() AS FUNCTION_CAT, n.nspname AS FUNCTION_SCHEM, p.proname AS FUNCTION_NAME,
      d.description AS REMARKS, CASE WHEN (format_type(p.prorettype, null) = 'unknown') THEN 0 WHEN
      (substring(pg_get_function_result(p.oid) from 0 for 6) = 'TABLE') OR (substring(pg_get_function_result(p.oid)
      from 0 for 6) = 'SETOF') THEN 2 ELSE 1 END AS FUNCTION_TYPE, p.proname || '_' || p.oid AS SPECIFIC_NAME FROM
      pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON p.pronamespace=n.oid LEFT JOIN
      pg_catalog.pg_description d ON p.oid=d.objoid WHERE true AND pg_function_is_visible(p.oid) AND p.prokind='f' AND
      n.nspname LIKE 'acme' ORDER BY FUNCTION_SCHEM, FUNCTION_NAME, p.oid::text`,
  ],
  [
    'getUDTs',
    `
      select current_database() as type_cat, n.nspname as type_schem, t.typname as type_name, null as class_name, CASE
      WHEN t.typtype='c' then 2002 else 2001 end as data_type, pg_catalog.obj_description(t.oid, 'pg_type') as
      remarks, CASE WHEN t.typtype = 'd' then (select CASE WHEN t.typname = 'x' then 12 else 1111 end) else null end
      as base_type from pg_catalog.pg_type t, pg_catalog.pg_namespace n where t.typnamespace = n.oid and n.nspname !=
      'pg_catalog' and n.nspname != 'pg_toast' and t.typtype IN ('c', 'd') order by data_type, type_schem, type_name`,
  ],
]

export const dbeaver: readonly (readonly [asks: string, sql: string])[] = [
  ['session', 'SELECT current_schema(),session_user'],
  ['version', 'SELECT version()'],
  [
    'databases',
    `
      SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate OR db.datname =
      'postgres' ORDER BY db.datname`,
  ],
  ['encoding', 'SELECT pg_catalog.pg_encoding_to_char(6)'],
  [
    'schemas',
    `
      SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON
      d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass ORDER BY nspname`,
  ],
  [
    'types',
    `
      SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description
      FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem LEFT OUTER JOIN
      pg_catalog.pg_class c ON c.oid=t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid WHERE
      t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory
      <> 'C')`,
  ],
  [
    'tables',
    `
      SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
      pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN
      pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass WHERE
      c.relnamespace=(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname='acme') AND c.relkind not in ('i','I','c')`,
  ],
  [
    'columns',
    `
      SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid
      FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid) LEFT OUTER JOIN
      pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN
      pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid) LEFT OUTER JOIN pg_depend dep on
      dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid
      WHERE NOT a.attisdropped AND c.oid={trips} ORDER BY a.attnum`,
  ],
  [
    'constraints',
    `
      SELECT c.oid,c.*,t.relname as tabrelname,rt.relnamespace as refnamespace,d.description, case when c.contype='c'
      then "substring"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy FROM pg_catalog.pg_constraint c INNER
      JOIN pg_catalog.pg_class t ON t.oid=c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid LEFT
      OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND
      d.classoid='pg_constraint'::regclass WHERE c.conrelid={trips} ORDER BY c.oid`,
  ],
  [
    'indexes',
    `
      SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as
      tabrelname,dsc.description, pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,
      pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr, pg_catalog.pg_relation_size(i.indexrelid) as
      index_rel_size, pg_catalog.pg_stat_get_numscans(i.indexrelid) as index_num_scans FROM pg_catalog.pg_index i
      INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid
      LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid WHERE i.indrelid={trips} ORDER BY
      tabrelname, c.relname`,
  ],
  [
    'rules and triggers',
    `
      SELECT x.oid,x.*,p.pronamespace as func_schema_id,d.description FROM pg_catalog.pg_trigger x LEFT OUTER JOIN
      pg_catalog.pg_proc p ON p.oid=x.tgfoid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=x.oid AND
      d.objsubid=0 WHERE x.tgrelid={trips} AND NOT x.tgisinternal`,
  ],
  [
    'sizes',
    `
      select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as
      rel_size FROM pg_class c WHERE c.relnamespace=(SELECT oid FROM pg_namespace WHERE nspname='acme')`,
  ],
  ['settings', 'select * from pg_catalog.pg_settings'],
  [
    'roles',
    `
      SELECT a.oid,a.*,pd.description FROM pg_catalog.pg_roles a left join pg_catalog.pg_shdescription pd on a.oid =
      pd.objoid ORDER BY a.rolname`,
  ],
  ['enums', `SELECT e.enumlabel FROM pg_catalog.pg_enum e WHERE e.enumtypid=25 ORDER BY e.enumsortorder`],
  ['search path', `SELECT setting FROM pg_catalog.pg_settings WHERE name='search_path'`],
  [
    'inherits',
    `
      SELECT i.*,c.relnamespace FROM pg_catalog.pg_inherits i,pg_catalog.pg_class c WHERE i.inhrelid={trips} AND
      c.oid=i.inhparent ORDER BY i.inhseqno`,
  ],
]
