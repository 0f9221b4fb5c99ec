// Adds facts to stored themes; those that a theme lists already stay where they are.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>, sorted by id, each id once: {id: STRING, facts: LIST<STRING> (each once)}
// returns, a row per theme that is stored:
//   id           : STRING
//   added        : INTEGER
//   placeholders : LIST<STRING>   ids of facts that are named but not stored, made by this write
//
// why: SET on the theme locks it, so that two writers cannot hand out one position.
CYPHER 25
UNWIND $rows AS row
MATCH (theme:Theme {namespace: $namespace, id: row.id}) WHERE NOT theme:Placeholder
SET theme.next_position = coalesce(theme.next_position, 0)
WITH theme, row
CALL (theme, row) {
  UNWIND row.facts AS id
  WITH theme, id WHERE NOT EXISTS { (theme)-[:HAS_FACT]->(:Fact {namespace: $namespace, id: id}) }
  RETURN collect(id) AS wanted
}
CALL (theme, wanted) {
  UNWIND range(0, size(wanted) - 1) AS place
  WITH theme, wanted[place] AS id, place ORDER BY id
  MERGE (target:Fact {namespace: $namespace, id: id}) ON CREATE SET target:Placeholder, target.fresh = true
  MERGE (theme)-[edge:HAS_FACT]->(target)
  SET edge.namespace = $namespace, edge.positions = [theme.next_position + place]
  WITH target, id WHERE target.fresh
  REMOVE target.fresh
  RETURN collect(id) AS placeholders
}
SET theme.next_position = theme.next_position + size(wanted)
RETURN row.id AS id, size(wanted) AS added, placeholders
