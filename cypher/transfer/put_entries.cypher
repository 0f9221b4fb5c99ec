// Writes what a pass did to some records, in place of what is there.
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
// why: pass.put_entries makes each entry once; this may be run again.
CYPHER 25
UNWIND $rows AS row
MERGE (entry:PassEntry {namespace: $namespace, pass_id: $pass_id, position: row.position})
SET entry += row.properties
WITH entry, row WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(entry, 'embedding_1', row.embedding)
