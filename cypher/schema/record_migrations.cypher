// Notes which migrations are applied. Run under the schema's lock.
//
// params:
//   $versions        : LIST<INTEGER>    all that are applied now, ascending
//   $checksums       : LIST<STRING>     in the same order
//   $library_version : STRING           who migrated last
// returns: nothing
CYPHER 25
MATCH (schema:Schema {id: 'remembrancer'})
SET schema.versions = $versions, schema.checksums = $checksums, schema.library_version = $library_version
