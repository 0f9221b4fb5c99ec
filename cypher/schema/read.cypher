// What the database knows about its schema.
//
// returns (no row when the database was never migrated):
//   versions  : LIST<INTEGER>   numbers of the migrations applied, ascending
//   checksums : LIST<STRING>    their checksums, in the same order
//   models    : LIST<STRING>    embedding spaces by their number from 1: the model
//   dimensions : LIST<INTEGER>  and the length of its vectors
//   retired   : LIST<INTEGER>   numbers of those that no namespace needs any more, and that have no indexes
CYPHER 25
MATCH (schema:Schema {id: 'remembrancer'})
RETURN schema.versions AS versions, schema.checksums AS checksums, schema.space_models AS models, schema.space_dimensions AS dimensions,
       coalesce(schema.retired_spaces, []) AS retired
