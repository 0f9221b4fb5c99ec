// Takes audit edges away from erased records, and the reasons from those at records that are made anew.
//
// params:
//   $namespace : STRING
//   $touched   : LIST<STRING>   ids of records whose edges lose their reasons
//   $erased    : LIST<STRING>   ids of facts and entities that are gone
// returns (one row):
//   removed : LIST<[label, id]>   placeholders whose last reference this took away
//
// why: REMOVE locks what is left, so that the second look at its edges is final.
CYPHER 25
CALL () {
  UNWIND $touched AS id
  CALL (id) {
    MATCH (n:Fact {namespace: $namespace, id: id}) RETURN n
    UNION ALL
    MATCH (n:Entity {namespace: $namespace, id: id}) RETURN n
  }
  MATCH (n)-[edge:SUPERSEDES]-()
  SET edge.reason = 'erased'
}
CALL () {
  UNWIND $erased AS id
  CALL (id) {
    MATCH (n:Fact {namespace: $namespace, id: id}) RETURN n
    UNION ALL
    MATCH (n:Entity {namespace: $namespace, id: id}) RETURN n
  }
  MATCH (n)-[edge:SUPERSEDES|DERIVED_FROM]-(other)
  WITH DISTINCT edge, startNode(edge) AS newer, endNode(edge) AS older
  WITH edge, [newer, older] AS ends ORDER BY coalesce(edge.pass_id, ''), older.id, newer.id
  DELETE edge
  RETURN collect(ends) AS pairs
}
CALL (pairs) {
  UNWIND pairs AS ends UNWIND ends AS end
  WITH DISTINCT end
  WITH end ORDER BY end.id
  REMOVE end.fresh
  WITH end WHERE end:Placeholder AND NOT EXISTS { (end)--() }
  WITH end, [[label IN labels(end) WHERE label <> 'Placeholder'][0], end.id] AS gone
  DELETE end
  RETURN collect(gone) AS removed
}
RETURN removed
