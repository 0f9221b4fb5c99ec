// Records from which facts others were made.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<[STRING, STRING]>   the derived fact and its source, sorted by source, each once
// returns (one row):
//   placeholders : LIST<STRING>   ids of facts named here as the first
//
// why: audit edges, which no put of a fact touches. Nodes first, then edges, both in the order of keys.
CYPHER 25
CALL () {
  UNWIND $rows AS row UNWIND row AS id
  WITH DISTINCT id ORDER BY id
  MERGE (node:Fact {namespace: $namespace, id: id}) ON CREATE SET node:Placeholder, node.fresh = true
  WITH node, id WHERE node.fresh
  REMOVE node.fresh
  RETURN collect(id) AS placeholders
}
CALL () {
  UNWIND $rows AS row
  MATCH (derived:Fact {namespace: $namespace, id: row[0]})
  MATCH (source:Fact {namespace: $namespace, id: row[1]})
  MERGE (derived)-[edge:DERIVED_FROM]->(source)
  SET edge.namespace = $namespace
}
RETURN placeholders
