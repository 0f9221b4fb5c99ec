// Takes the schema's lock: whoever holds it alone may change the schema. Ends with the transaction.
//
// params:
//   $now : ZONED DATETIME   UTC
// returns (one row):
//   versions  : LIST<INTEGER>   numbers of the migrations applied, ascending
//   checksums : LIST<STRING>    their checksums, in the same order
//   models    : LIST<STRING>    embedding spaces by their number from 1: the model
//   dimensions : LIST<INTEGER>  and the length of its vectors
//   retired   : LIST<INTEGER>   numbers of those that no namespace needs any more, and that have no indexes
//
// why: SET locks the node whether or not MERGE made it, and the constraint on its key lets no second one appear.
CYPHER 25
MERGE (schema:Schema {id: 'remembrancer'})
ON CREATE SET schema.created_at = $now, schema.versions = [], schema.checksums = [], schema.space_models = [], schema.space_dimensions = []
SET schema.claimed_at = $now
RETURN schema.versions AS versions, schema.checksums AS checksums, schema.space_models AS models, schema.space_dimensions AS dimensions,
       coalesce(schema.retired_spaces, []) AS retired
