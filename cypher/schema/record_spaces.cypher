// Notes the embedding spaces. Run under the schema's lock.
//
// params:
//   $models     : LIST<STRING>    by number from 1
//   $dimensions : LIST<INTEGER>   in the same order
//   $retired    : LIST<INTEGER>   numbers of those without indexes
// returns: nothing
CYPHER 25
MATCH (schema:Schema {id: 'remembrancer'})
SET schema.space_models = $models, schema.space_dimensions = $dimensions,
    schema.retired_spaces = $retired
