// A write as this library makes them, for the run from which a start-up archive is made.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>    id, content
//   $vector    : LIST<FLOAT>  384 of them
// returns (one row):
//   written : INTEGER
CYPHER 25
UNWIND $rows AS row
MERGE (fact:Fact {namespace: $namespace, id: row.id})
SET fact.content = row.content, fact.namespace_token = $namespace, fact.valid_from = datetime(), fact.embedding_1 = $vector
MERGE (entity:Entity {namespace: $namespace, id: row.id})
MERGE (fact)-[:MENTIONS]->(entity)
RETURN count(*) AS written
