// The relations of `pg_catalog` with their columns and types, as PostgreSQL 15 has them (test/libraries/pgwire/catalogue.test.ts holds
// them against a server where there is one). Data.

/** Columns and types by relation. */
export const pgColumns: Readonly<Record<string, string>> = {
  pg_aggregate: `
    aggfnoid regproc, aggkind char, aggnumdirectargs int2, aggtransfn regproc, aggfinalfn regproc, aggcombinefn
    regproc, aggserialfn regproc, aggdeserialfn regproc, aggmtransfn regproc, aggminvtransfn regproc, aggmfinalfn
    regproc, aggfinalextra bool, aggmfinalextra bool, aggfinalmodify char, aggmfinalmodify char, aggsortop oid,
    aggtranstype oid, aggtransspace int4, aggmtranstype oid, aggmtransspace int4, agginitval text, aggminitval text`,
  pg_am: 'oid oid, amname name, amhandler regproc, amtype char',
  pg_amop: `
    oid oid, amopfamily oid, amoplefttype oid, amoprighttype oid, amopstrategy int2, amoppurpose char, amopopr oid,
    amopmethod oid, amopsortfamily oid`,
  pg_attrdef: 'oid oid, adrelid oid, adnum int2, adbin pg_node_tree',
  pg_attribute: `
    attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2, attndims int4, attcacheoff
    int4, atttypmod int4, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool,
    atthasdef bool, atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool,
    attinhcount int4, attcollation oid, attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval anyarray`,
  pg_auth_members: 'roleid oid, member oid, grantor oid, admin_option bool',
  pg_cast: 'oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, castmethod char',
  pg_class: `
    oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid, relfilenode oid,
    reltablespace oid, relpages int4, reltuples float4, relallvisible int4, reltoastrelid oid, relhasindex bool,
    relisshared bool, relpersistence char, relkind char, relnatts int2, relchecks int2, relhasrules bool,
    relhastriggers bool, relhassubclass bool, relrowsecurity bool, relforcerowsecurity bool, relispopulated bool,
    relreplident char, relispartition bool, relrewrite oid, relfrozenxid xid, relminmxid xid, relacl _aclitem,
    reloptions _text, relpartbound pg_node_tree`,
  pg_collation: `
    oid oid, collname name, collnamespace oid, collowner oid, collprovider char, collisdeterministic bool,
    collencoding int4, collcollate text, collctype text, colliculocale text, collversion text`,
  pg_constraint: `
    oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred bool, convalidated bool,
    conrelid oid, contypid oid, conindid oid, conparentid oid, confrelid oid, confupdtype char, confdeltype char,
    confmatchtype char, conislocal bool, coninhcount int4, connoinherit bool, conkey _int2, confkey _int2, conpfeqop
    _oid, conppeqop _oid, conffeqop _oid, confdelsetcols _int2, conexclop _oid, conbin pg_node_tree`,
  pg_conversion: `
    oid oid, conname name, connamespace oid, conowner oid, conforencoding int4, contoencoding int4, conproc regproc,
    condefault bool`,
  pg_database: `
    oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool,
    datconnlimit int4, datfrozenxid xid, datminmxid xid, dattablespace oid, datcollate text, datctype text,
    daticulocale text, datcollversion text, datacl _aclitem`,
  pg_db_role_setting: 'setdatabase oid, setrole oid, setconfig _text',
  pg_depend: 'classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4, deptype char',
  pg_description: 'objoid oid, classoid oid, objsubid int4, description text',
  pg_enum: 'oid oid, enumtypid oid, enumsortorder float4, enumlabel name',
  pg_event_trigger: 'oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled char, evttags _text',
  pg_extension: `
    oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, extversion text, extconfig _oid,
    extcondition _text`,
  pg_foreign_data_wrapper: `
    oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl _aclitem, fdwoptions _text`,
  pg_foreign_server: `
    oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, srvacl _aclitem, srvoptions _text`,
  pg_foreign_table: 'ftrelid oid, ftserver oid, ftoptions _text',
  pg_group: 'groname name, grosysid oid, grolist _oid',
  pg_index: `
    indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool, indnullsnotdistinct bool,
    indisprimary bool, indisexclusion bool, indimmediate bool, indisclustered bool, indisvalid bool, indcheckxmin
    bool, indisready bool, indislive bool, indisreplident bool, indkey int2vector, indcollation oidvector, indclass
    oidvector, indoption int2vector, indexprs pg_node_tree, indpred pg_node_tree`,
  pg_indexes: 'schemaname name, tablename name, indexname name, tablespace name, indexdef text',
  pg_inherits: 'inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool',
  pg_init_privs: 'objoid oid, classoid oid, objsubid int4, privtype char, initprivs _aclitem',
  pg_language: `
    oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, laninline oid,
    lanvalidator oid, lanacl _aclitem`,
  pg_locks: `
    locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid xid, classid oid,
    objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool, fastpath bool, waitstart
    timestamptz`,
  pg_matviews: `
    schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, ispopulated bool,
    definition text`,
  pg_namespace: 'oid oid, nspname name, nspowner oid, nspacl _aclitem',
  pg_opclass: `
    oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid, opcintype oid, opcdefault
    bool, opckeytype oid`,
  pg_operator: `
    oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, oprcanmerge bool, oprcanhash bool, oprleft
    oid, oprright oid, oprresult oid, oprcom oid, oprnegate oid, oprcode regproc, oprrest regproc, oprjoin regproc`,
  pg_opfamily: 'oid oid, opfmethod oid, opfname name, opfnamespace oid, opfowner oid',
  pg_partitioned_table: `
    partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs int2vector, partclass oidvector,
    partcollation oidvector, partexprs pg_node_tree`,
  pg_policy: `
    oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles _oid, polqual pg_node_tree,
    polwithcheck pg_node_tree`,
  pg_proc: `
    oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4, prorows float4, provariadic
    oid, prosupport regproc, prokind char, prosecdef bool, proleakproof bool, proisstrict bool, proretset bool,
    provolatile char, proparallel char, pronargs int2, pronargdefaults int2, prorettype oid, proargtypes oidvector,
    proallargtypes _oid, proargmodes _char, proargnames _text, proargdefaults pg_node_tree, protrftypes _oid, prosrc
    text, probin text, prosqlbody pg_node_tree, proconfig _text, proacl _aclitem`,
  pg_publication: `
    oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate bool, pubdelete bool,
    pubtruncate bool, pubviaroot bool`,
  pg_publication_namespace: 'oid oid, pnpubid oid, pnnspid oid',
  pg_publication_rel: 'oid oid, prpubid oid, prrelid oid, prqual pg_node_tree, prattrs int2vector',
  pg_range: `
    rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid, rngcanonical regproc, rngsubdiff
    regproc`,
  pg_rewrite: `
    oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, is_instead bool, ev_qual pg_node_tree,
    ev_action pg_node_tree`,
  pg_roles: `
    rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool,
    rolreplication bool, rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, rolbypassrls bool, rolconfig
    _text, oid oid`,
  pg_rules: 'schemaname name, tablename name, rulename name, definition text',
  pg_sequence: `
    seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, seqmin int8, seqcache int8, seqcycle
    bool`,
  pg_sequences: `
    schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8, min_value int8,
    max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8`,
  pg_settings: `
    name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, vartype text,
    source text, min_val text, max_val text, enumvals _text, boot_val text, reset_val text, sourcefile text,
    sourceline int4, pending_restart bool`,
  pg_shdepend: 'dbid oid, classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, deptype char',
  pg_shdescription: 'objoid oid, classoid oid, description text',
  pg_stat_activity: `
    datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, client_addr
    inet, client_hostname text, client_port int4, backend_start timestamptz, xact_start timestamptz, query_start
    timestamptz, state_change timestamptz, wait_event_type text, wait_event text, state text, backend_xid xid,
    backend_xmin xid, query_id int8, query text, backend_type text`,
  pg_stat_database: `
    datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8, blks_read int8, blks_hit int8,
    tup_returned int8, tup_fetched int8, tup_inserted int8, tup_updated int8, tup_deleted int8, conflicts int8,
    temp_files int8, temp_bytes int8, deadlocks int8, checksum_failures int8, checksum_last_failure timestamptz,
    blk_read_time float8, blk_write_time float8, session_time float8, active_time float8, idle_in_transaction_time
    float8, sessions int8, sessions_abandoned int8, sessions_fatal int8, sessions_killed int8, stats_reset timestamptz`,
  pg_stat_user_indexes: `
    relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8,
    idx_tup_fetch int8`,
  pg_stat_user_tables: `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8,
    n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8,
    n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz,
    last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count
    int8, autoanalyze_count int8`,
  pg_statio_user_tables: `
    relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8,
    idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8`,
  pg_statistic_ext: `
    oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget int4, stxkeys int2vector,
    stxkind _char, stxexprs pg_node_tree`,
  pg_stats: `
    schemaname name, tablename name, attname name, inherited bool, null_frac float4, avg_width int4, n_distinct
    float4, most_common_vals anyarray, most_common_freqs _float4, histogram_bounds anyarray, correlation float4,
    most_common_elems anyarray, most_common_elem_freqs _float4, elem_count_histogram _float4`,
  pg_tables: `
    schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool, hastriggers
    bool, rowsecurity bool`,
  pg_tablespace: 'oid oid, spcname name, spcowner oid, spcacl _aclitem, spcoptions _text',
  pg_trigger: `
    oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, tgenabled char, tgisinternal bool,
    tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable bool, tginitdeferred bool, tgnargs int2,
    tgattr int2vector, tgargs bytea, tgqual pg_node_tree, tgoldtable name, tgnewtable name`,
  pg_ts_config: 'oid oid, cfgname name, cfgnamespace oid, cfgowner oid, cfgparser oid',
  pg_type: `
    oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype char, typcategory char,
    typispreferred bool, typisdefined bool, typdelim char, typrelid oid, typsubscript regproc, typelem oid, typarray
    oid, typinput regproc, typoutput regproc, typreceive regproc, typsend regproc, typmodin regproc, typmodout
    regproc, typanalyze regproc, typalign char, typstorage char, typnotnull bool, typbasetype oid, typtypmod int4,
    typndims int4, typcollation oid, typdefaultbin pg_node_tree, typdefault text, typacl _aclitem`,
  pg_user: `
    usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text,
    valuntil timestamptz, useconfig _text`,
  pg_views: 'schemaname name, viewname name, viewowner name, definition text',
  pg_stat_all_tables: `
    relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8,
    n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8,
    n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz,
    last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count
    int8, autoanalyze_count int8`,
  pg_available_extensions: 'name name, default_version text, installed_version text, comment text',
  pg_default_acl: 'oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl _aclitem',
  pg_policies: `
    schemaname name, tablename name, policyname name, permissive text, roles _name, cmd text, qual text, with_check text`,
  pg_prepared_xacts: 'transaction xid, gid text, prepared timestamptz, owner name, database name',
  pg_seclabel: 'objoid oid, classoid oid, objsubid int4, provider text, label text',
  pg_user_mapping: 'oid oid, umuser oid, umserver oid, umoptions _text',
  pg_get_keywords: 'word text, catcode char, catdesc text',
}
