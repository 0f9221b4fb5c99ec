// Records what a pass did to some records.
//
// params:
//   $namespace : STRING
//   $pass_id   : STRING
//   $rows : LIST<MAP>, in the order of the plan:
//     position   : INTEGER         place in the plan
//     properties : MAP             of the entry, absent ones as null
//     embedding  : VECTOR | NULL   the embedding before
// returns: nothing
//
// why: nodes without edges, since records may go and edges of the knowledge graph cannot be pointed at; an index finds
// them by pass and by record. The embedding is no property that a vector index covers.
CYPHER 25
UNWIND $rows AS row
CREATE (entry:PassEntry {namespace: $namespace, pass_id: $pass_id, position: row.position})
SET entry += row.properties
WITH entry, row WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(entry, 'embedding_1', row.embedding)
