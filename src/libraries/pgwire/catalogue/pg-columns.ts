// The relations of `pg_catalog` with their columns and types, as PostgreSQL 15 has them
// (test/libraries/pgwire/catalogue.test.ts holds them against a server where there is one). Data.

const ofTables = `
  relid:oid schemaname relname seq_scan:int8 seq_tup_read:int8 idx_scan:int8 idx_tup_fetch:int8 n_tup_ins:int8
  n_tup_upd:int8 n_tup_del:int8 n_tup_hot_upd:int8 n_live_tup:int8 n_dead_tup:int8 n_mod_since_analyze:int8
  n_ins_since_vacuum:int8 last_vacuum:timestamptz last_autovacuum:timestamptz last_analyze:timestamptz
  last_autoanalyze:timestamptz vacuum_count:int8 autovacuum_count:int8 analyze_count:int8 autoanalyze_count:int8`

/** Columns by relation, with their types but for texts. */
export const pgColumns: Readonly<Record<string, string>> = {
  pg_am: 'oid:oid amname amhandler:regproc amtype',
  pg_attrdef: 'oid:oid adrelid:oid adnum:int2 adbin',
  pg_attribute: `
    attrelid:oid attname atttypid:oid attstattarget:int4 attlen:int2 attnum:int2 attndims:int4 attcacheoff:int4
    atttypmod:int4 attbyval:bool attalign attstorage attcompression attnotnull:bool atthasdef:bool atthasmissing:bool
    attidentity attgenerated attisdropped:bool attislocal:bool attinhcount:int4 attcollation:oid attacl:_text
    attoptions:_text attfdwoptions:_text attmissingval`,
  pg_auth_members: 'roleid:oid member:oid grantor:oid admin_option:bool',
  pg_cast: 'oid:oid castsource:oid casttarget:oid castfunc:oid castcontext castmethod',
  pg_class: `
    oid:oid relname relnamespace:oid reltype:oid reloftype:oid relowner:oid relam:oid relfilenode:oid
    reltablespace:oid relpages:int4 reltuples:float4 relallvisible:int4 reltoastrelid:oid relhasindex:bool
    relisshared:bool relpersistence relkind relnatts:int2 relchecks:int2 relhasrules:bool relhastriggers:bool
    relhassubclass:bool relrowsecurity:bool relforcerowsecurity:bool relispopulated:bool relreplident
    relispartition:bool relrewrite:oid relfrozenxid:xid relminmxid:xid relacl:_text reloptions:_text relpartbound`,
  pg_collation: `
    oid:oid collname collnamespace:oid collowner:oid collprovider collisdeterministic:bool collencoding:int4
    collcollate collctype colliculocale collversion`,
  pg_constraint: `
    oid:oid conname connamespace:oid contype condeferrable:bool condeferred:bool convalidated:bool conrelid:oid
    contypid:oid conindid:oid conparentid:oid confrelid:oid confupdtype confdeltype confmatchtype conislocal:bool
    coninhcount:int4 connoinherit:bool conkey:_int2 confkey:_int2 conpfeqop:_oid conppeqop:_oid conffeqop:_oid
    confdelsetcols:_int2 conexclop:_oid conbin`,
  pg_conversion: `
    oid:oid conname connamespace:oid conowner:oid conforencoding:int4 contoencoding:int4 conproc:regproc
    condefault:bool`,
  pg_database: `
    oid:oid datname datdba:oid encoding:int4 datlocprovider datistemplate:bool datallowconn:bool datconnlimit:int4
    datfrozenxid:xid datminmxid:xid dattablespace:oid datcollate datctype daticulocale datcollversion datacl:_text`,
  pg_db_role_setting: 'setdatabase:oid setrole:oid setconfig:_text',
  pg_depend: 'classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid refobjsubid:int4 deptype',
  pg_description: 'objoid:oid classoid:oid objsubid:int4 description',
  pg_enum: 'oid:oid enumtypid:oid enumsortorder:float4 enumlabel',
  pg_event_trigger: 'oid:oid evtname evtevent evtowner:oid evtfoid:oid evtenabled evttags:_text',
  pg_extension: `
    oid:oid extname extowner:oid extnamespace:oid extrelocatable:bool extversion extconfig:_oid extcondition:_text`,
  pg_foreign_data_wrapper: 'oid:oid fdwname fdwowner:oid fdwhandler:oid fdwvalidator:oid fdwacl:_text fdwoptions:_text',
  pg_foreign_server: 'oid:oid srvname srvowner:oid srvfdw:oid srvtype srvversion srvacl:_text srvoptions:_text',
  pg_foreign_table: 'ftrelid:oid ftserver:oid ftoptions:_text',
  pg_group: 'groname grosysid:oid grolist:_oid',
  pg_index: `
    indexrelid:oid indrelid:oid indnatts:int2 indnkeyatts:int2 indisunique:bool indnullsnotdistinct:bool
    indisprimary:bool indisexclusion:bool indimmediate:bool indisclustered:bool indisvalid:bool indcheckxmin:bool
    indisready:bool indislive:bool indisreplident:bool indkey:int2vector indcollation:oidvector indclass:oidvector
    indoption:int2vector indexprs indpred`,
  pg_indexes: 'schemaname tablename indexname tablespace indexdef',
  pg_inherits: 'inhrelid:oid inhparent:oid inhseqno:int4 inhdetachpending:bool',
  pg_language: `
    oid:oid lanname lanowner:oid lanispl:bool lanpltrusted:bool lanplcallfoid:oid laninline:oid lanvalidator:oid
    lanacl:_text`,
  pg_locks: `
    locktype database:oid relation:oid page:int4 tuple:int2 virtualxid transactionid:xid classid:oid objid:oid
    objsubid:int2 virtualtransaction pid:int4 mode granted:bool fastpath:bool waitstart:timestamptz`,
  pg_matviews: 'schemaname matviewname matviewowner tablespace hasindexes:bool ispopulated:bool definition',
  pg_namespace: 'oid:oid nspname nspowner:oid nspacl:_text',
  pg_opclass: `
    oid:oid opcmethod:oid opcname opcnamespace:oid opcowner:oid opcfamily:oid opcintype:oid opcdefault:bool
    opckeytype:oid`,
  pg_operator: `
    oid:oid oprname oprnamespace:oid oprowner:oid oprkind oprcanmerge:bool oprcanhash:bool oprleft:oid oprright:oid
    oprresult:oid oprcom:oid oprnegate:oid oprcode:regproc oprrest:regproc oprjoin:regproc`,
  pg_opfamily: 'oid:oid opfmethod:oid opfname opfnamespace:oid opfowner:oid',
  pg_partitioned_table: `
    partrelid:oid partstrat partnatts:int2 partdefid:oid partattrs:int2vector partclass:oidvector
    partcollation:oidvector partexprs`,
  pg_policy: 'oid:oid polname polrelid:oid polcmd polpermissive:bool polroles:_oid polqual polwithcheck',
  pg_proc: `
    oid:oid proname pronamespace:oid proowner:oid prolang:oid procost:float4 prorows:float4 provariadic:oid
    prosupport:regproc prokind prosecdef:bool proleakproof:bool proisstrict:bool proretset:bool provolatile
    proparallel pronargs:int2 pronargdefaults:int2 prorettype:oid proargtypes:oidvector proallargtypes:_oid
    proargmodes:_text proargnames:_text proargdefaults protrftypes:_oid prosrc probin prosqlbody proconfig:_text
    proacl:_text`,
  pg_publication: `
    oid:oid pubname pubowner:oid puballtables:bool pubinsert:bool pubupdate:bool pubdelete:bool pubtruncate:bool
    pubviaroot:bool`,
  pg_publication_namespace: 'oid:oid pnpubid:oid pnnspid:oid',
  pg_publication_rel: 'oid:oid prpubid:oid prrelid:oid prqual prattrs:int2vector',
  pg_range: `
    rngtypid:oid rngsubtype:oid rngmultitypid:oid rngcollation:oid rngsubopc:oid rngcanonical:regproc
    rngsubdiff:regproc`,
  pg_rewrite: 'oid:oid rulename ev_class:oid ev_type ev_enabled is_instead:bool ev_qual ev_action',
  pg_roles: `
    rolname rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool rolcanlogin:bool rolreplication:bool
    rolconnlimit:int4 rolpassword rolvaliduntil:timestamptz rolbypassrls:bool rolconfig:_text oid:oid`,
  pg_rules: 'schemaname tablename rulename definition',
  pg_sequence: `
    seqrelid:oid seqtypid:oid seqstart:int8 seqincrement:int8 seqmax:int8 seqmin:int8 seqcache:int8 seqcycle:bool`,
  pg_sequences: `
    schemaname sequencename sequenceowner data_type start_value:int8 min_value:int8 max_value:int8 increment_by:int8
    cycle:bool cache_size:int8 last_value:int8`,
  pg_settings: `
    name setting unit category short_desc extra_desc context vartype source min_val max_val enumvals:_text boot_val
    reset_val sourcefile sourceline:int4 pending_restart:bool`,
  pg_shdescription: 'objoid:oid classoid:oid description',
  pg_stat_activity: `
    datid:oid datname pid:int4 leader_pid:int4 usesysid:oid usename application_name client_addr client_hostname
    client_port:int4 backend_start:timestamptz xact_start:timestamptz query_start:timestamptz state_change:timestamptz
    wait_event_type wait_event state backend_xid:xid backend_xmin:xid query_id:int8 query backend_type`,
  pg_stat_all_tables: ofTables,
  pg_stat_user_tables: ofTables,
  pg_statistic_ext: `
    oid:oid stxrelid:oid stxname stxnamespace:oid stxowner:oid stxstattarget:int4 stxkeys:int2vector stxkind:_text
    stxexprs`,
  pg_tables: `
    schemaname tablename tableowner tablespace hasindexes:bool hasrules:bool hastriggers:bool rowsecurity:bool`,
  pg_tablespace: 'oid:oid spcname spcowner:oid spcacl:_text spcoptions:_text',
  pg_trigger: `
    oid:oid tgrelid:oid tgparentid:oid tgname tgfoid:oid tgtype:int2 tgenabled tgisinternal:bool tgconstrrelid:oid
    tgconstrindid:oid tgconstraint:oid tgdeferrable:bool tginitdeferred:bool tgnargs:int2 tgattr:int2vector
    tgargs:bytea tgqual tgoldtable tgnewtable`,
  pg_ts_config: 'oid:oid cfgname cfgnamespace:oid cfgowner:oid cfgparser:oid',
  pg_type: `
    oid:oid typname typnamespace:oid typowner:oid typlen:int2 typbyval:bool typtype typcategory typispreferred:bool
    typisdefined:bool typdelim typrelid:oid typsubscript:regproc typelem:oid typarray:oid typinput:regproc
    typoutput:regproc typreceive:regproc typsend:regproc typmodin:regproc typmodout:regproc typanalyze:regproc
    typalign typstorage typnotnull:bool typbasetype:oid typtypmod:int4 typndims:int4 typcollation:oid typdefaultbin
    typdefault typacl:_text`,
  pg_user: `
    usename usesysid:oid usecreatedb:bool usesuper:bool userepl:bool usebypassrls:bool passwd valuntil:timestamptz
    useconfig:_text`,
  pg_views: 'schemaname viewname viewowner definition',
  pg_default_acl: 'oid:oid defaclrole:oid defaclnamespace:oid defaclobjtype defaclacl:_text',
  pg_aggregate: `
    aggfnoid:regproc aggkind aggnumdirectargs:int2 aggtransfn:regproc aggfinalfn:regproc aggcombinefn:regproc
    aggserialfn:regproc aggdeserialfn:regproc aggmtransfn:regproc aggminvtransfn:regproc aggmfinalfn:regproc
    aggfinalextra:bool aggmfinalextra:bool aggfinalmodify aggmfinalmodify aggsortop:oid aggtranstype:oid
    aggtransspace:int4 aggmtranstype:oid aggmtransspace:int4 agginitval aggminitval`,
  pg_available_extensions: 'name default_version installed_version comment',
  pg_replication_slots: `
    slot_name plugin slot_type datoid:oid database temporary:bool active:bool active_pid:int4 xmin:xid catalog_xmin:xid
    restart_lsn confirmed_flush_lsn wal_status safe_wal_size:int8 two_phase:bool`,
  pg_seclabel: 'objoid:oid classoid:oid objsubid:int4 provider label',
  pg_seclabels: 'objoid:oid classoid:oid objsubid:int4 objtype objnamespace:oid objname provider label',
  pg_shseclabel: 'objoid:oid classoid:oid provider label',
  pg_stat_gssapi: 'pid:int4 gss_authenticated:bool principal encrypted:bool',
  pg_shdepend: 'dbid:oid classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid deptype',
  pg_stat_database: `
    datid:oid datname numbackends:int4 xact_commit:int8 xact_rollback:int8 blks_read:int8 blks_hit:int8
    tup_returned:int8 tup_fetched:int8 tup_inserted:int8 tup_updated:int8 tup_deleted:int8 conflicts:int8
    temp_files:int8 temp_bytes:int8 deadlocks:int8 checksum_failures:int8 checksum_last_failure:timestamptz
    blk_read_time:float8 blk_write_time:float8 session_time:float8 active_time:float8
    idle_in_transaction_time:float8 sessions:int8 sessions_abandoned:int8 sessions_fatal:int8 sessions_killed:int8
    stats_reset:timestamptz`,
  pg_statio_all_tables: `
    relid:oid schemaname relname heap_blks_read:int8 heap_blks_hit:int8 idx_blks_read:int8 idx_blks_hit:int8
    toast_blks_read:int8 toast_blks_hit:int8 tidx_blks_read:int8 tidx_blks_hit:int8`,
  pg_stats: `
    schemaname tablename attname inherited:bool null_frac:float4 avg_width:int4 n_distinct:float4 most_common_vals
    most_common_freqs:_float4 histogram_bounds correlation:float4 most_common_elems most_common_elem_freqs:_float4
    elem_count_histogram:_float4`,
  pg_subscription: `
    oid:oid subdbid:oid subskiplsn subname subowner:oid subenabled:bool subbinary:bool substream:bool subtwophasestate
    subdisableonerr:bool subconninfo subslotname subsynccommit subpublications:_text`,
  pg_user_mappings: 'umid:oid srvid:oid srvname umuser:oid usename umoptions:_text',
  pg_ts_dict: 'oid:oid dictname dictnamespace:oid dictowner:oid dicttemplate:oid dictinitoption',
  pg_ts_parser: `
    oid:oid prsname prsnamespace:oid prsstart:regproc prstoken:regproc prsend:regproc prsheadline:regproc
    prslextype:regproc`,
  pg_ts_template: 'oid:oid tmplname tmplnamespace:oid tmplinit:regproc tmpllexize:regproc',
  pg_policies: 'schemaname tablename policyname permissive roles:_text cmd qual with_check',
  pg_get_keywords: 'word catcode catdesc',
}
