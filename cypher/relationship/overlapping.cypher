// Live relationships of the same ends and type, for rows that want to be asserted; locks the ends first.
//
// params:
//   $namespace : STRING
//   $rows : LIST<MAP>: {id, source_id, target_id, relation_type : STRING}
// returns (one row):
//   stored       : LIST<MAP>      {asserted, id, valid_from, valid_until | null}: a stored relationship that a row may meet,
//                                 `asserted` being the row's id; times as text, by row, then start, then id
//   placeholders : LIST<STRING>   ids of ends that are named but not stored, made by this statement
//
// why: the lock makes two writers of one assertion see each other; ends that are not stored are made placeholders, which
// the put that follows needs anyway. The index on both ends bounds the look at hubs.
CYPHER 25
CALL () {
  UNWIND $rows AS row UNWIND [row.source_id, row.target_id] AS id
  WITH DISTINCT id ORDER BY id
  MERGE (end:Entity {namespace: $namespace, id: id}) ON CREATE SET end:Placeholder, end.fresh = true
  WITH end, id, end.fresh AS fresh
  REMOVE end.fresh
  RETURN [x IN collect(CASE WHEN fresh THEN id END) WHERE x IS NOT NULL] AS placeholders
}
CALL () {
  UNWIND $rows AS row
  MATCH ()-[r:RELATES_TO {namespace: $namespace, source_id: row.source_id, target_id: row.target_id}]->()
  WHERE r.live AND r.relation_type = row.relation_type
  WITH row, r ORDER BY row.id, r.valid_from, r.id
  RETURN collect({asserted: row.id, id: r.id, valid_from: toString(r.valid_from),
                  valid_until: toString(nullIf(r.valid_until, datetime({year: 10000, timezone: 'Z'})))}) AS stored
}
RETURN stored, placeholders
