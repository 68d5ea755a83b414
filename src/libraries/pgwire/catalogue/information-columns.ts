// The relations of `information_schema` with their columns, as PostgreSQL 15 has them, with the types that its domains
// stand for. Data.

/** Columns by relation, with their types but for texts. */
export const informationColumns: Readonly<Record<string, string>> = {
  applicable_roles: 'grantee role_name is_grantable',
  character_sets: `
    character_set_catalog character_set_schema character_set_name character_repertoire form_of_use
    default_collate_catalog default_collate_schema default_collate_name`,
  check_constraints: 'constraint_catalog constraint_schema constraint_name check_clause',
  collations: 'collation_catalog collation_schema collation_name pad_attribute',
  column_privileges: 'grantor grantee table_catalog table_schema table_name column_name privilege_type is_grantable',
  columns: `
    table_catalog table_schema table_name column_name ordinal_position:int4 column_default is_nullable data_type
    character_maximum_length:int4 character_octet_length:int4 numeric_precision:int4 numeric_precision_radix:int4
    numeric_scale:int4 datetime_precision:int4 interval_type interval_precision:int4 character_set_catalog
    character_set_schema character_set_name collation_catalog collation_schema collation_name domain_catalog
    domain_schema domain_name udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name
    maximum_cardinality:int4 dtd_identifier is_self_referencing is_identity identity_generation identity_start
    identity_increment identity_maximum identity_minimum identity_cycle is_generated generation_expression
    is_updatable`,
  constraint_column_usage: `
    table_catalog table_schema table_name column_name constraint_catalog constraint_schema constraint_name`,
  domains: `
    domain_catalog domain_schema domain_name data_type character_maximum_length:int4 character_octet_length:int4
    character_set_catalog character_set_schema character_set_name collation_catalog collation_schema collation_name
    numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type
    interval_precision:int4 domain_default udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name
    maximum_cardinality:int4 dtd_identifier`,
  element_types: `
    object_catalog object_schema object_name object_type collection_type_identifier data_type
    character_maximum_length:int4 character_octet_length:int4 character_set_catalog character_set_schema
    character_set_name collation_catalog collation_schema collation_name numeric_precision:int4
    numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type interval_precision:int4
    domain_default udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality:int4
    dtd_identifier`,
  enabled_roles: 'role_name',
  information_schema_catalog_name: 'catalog_name',
  key_column_usage: `
    constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name column_name
    ordinal_position:int4 position_in_unique_constraint:int4`,
  parameters: `
    specific_catalog specific_schema specific_name ordinal_position:int4 parameter_mode is_result as_locator
    parameter_name data_type character_maximum_length:int4 character_octet_length:int4 character_set_catalog
    character_set_schema character_set_name collation_catalog collation_schema collation_name numeric_precision:int4
    numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type interval_precision:int4
    udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality:int4 dtd_identifier
    parameter_default`,
  referential_constraints: `
    constraint_catalog constraint_schema constraint_name unique_constraint_catalog unique_constraint_schema
    unique_constraint_name match_option update_rule delete_rule`,
  role_table_grants: 'grantor grantee table_catalog table_schema table_name privilege_type is_grantable with_hierarchy',
  routines: `
    specific_catalog specific_schema specific_name routine_catalog routine_schema routine_name routine_type
    module_catalog module_schema module_name udt_catalog udt_schema udt_name data_type character_maximum_length:int4
    character_octet_length:int4 character_set_catalog character_set_schema character_set_name collation_catalog
    collation_schema collation_name numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4
    datetime_precision:int4 interval_type interval_precision:int4 type_udt_catalog type_udt_schema type_udt_name
    scope_catalog scope_schema scope_name maximum_cardinality:int4 dtd_identifier routine_body routine_definition
    external_name external_language parameter_style is_deterministic sql_data_access is_null_call sql_path
    schema_level_routine max_dynamic_result_sets:int4 is_user_defined_cast is_implicitly_invocable security_type
    to_sql_specific_catalog to_sql_specific_schema to_sql_specific_name as_locator created:timestamptz
    last_altered:timestamptz new_savepoint_level is_udt_dependent result_cast_from_data_type result_cast_as_locator
    result_cast_char_max_length:int4 result_cast_char_octet_length:int4 result_cast_char_set_catalog
    result_cast_char_set_schema result_cast_char_set_name result_cast_collation_catalog result_cast_collation_schema
    result_cast_collation_name result_cast_numeric_precision:int4 result_cast_numeric_precision_radix:int4
    result_cast_numeric_scale:int4 result_cast_datetime_precision:int4 result_cast_interval_type
    result_cast_interval_precision:int4 result_cast_type_udt_catalog result_cast_type_udt_schema
    result_cast_type_udt_name result_cast_scope_catalog result_cast_scope_schema result_cast_scope_name
    result_cast_maximum_cardinality:int4 result_cast_dtd_identifier`,
  schemata: `
    catalog_name schema_name schema_owner default_character_set_catalog default_character_set_schema
    default_character_set_name sql_path`,
  sequences: `
    sequence_catalog sequence_schema sequence_name data_type numeric_precision:int4 numeric_precision_radix:int4
    numeric_scale:int4 start_value minimum_value maximum_value increment cycle_option`,
  table_constraints: `
    constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name constraint_type
    is_deferrable initially_deferred enforced nulls_distinct`,
  table_privileges: 'grantor grantee table_catalog table_schema table_name privilege_type is_grantable with_hierarchy',
  tables: `
    table_catalog table_schema table_name table_type self_referencing_column_name reference_generation
    user_defined_type_catalog user_defined_type_schema user_defined_type_name is_insertable_into is_typed
    commit_action`,
  triggers: `
    trigger_catalog trigger_schema trigger_name event_manipulation event_object_catalog event_object_schema
    event_object_table action_order:int4 action_condition action_statement action_orientation action_timing
    action_reference_old_table action_reference_new_table action_reference_old_row action_reference_new_row
    created:timestamptz`,
  views: `
    table_catalog table_schema table_name view_definition check_option is_updatable is_insertable_into
    is_trigger_updatable is_trigger_deletable is_trigger_insertable_into`,
}
