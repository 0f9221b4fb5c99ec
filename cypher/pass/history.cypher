// What is known of an id: under which kinds it is stored, what passes did to it, and what took the place of what.
//
// params:
//   $namespace : STRING
//   $record_id : STRING
// returns (one row):
//   marks    : LIST<MAP>   a map for each kind under which it is stored: {kind, closed_by, closed_at, names_record: whether
//                          `closed_by` is a stored record of the same kind}
//   steps    : LIST<MAP>   {pass_id, pass_kind, at, record_kind, action, reason, fields, superseded_by, undone_by}, oldest first
//   newer    : LIST<MAP>   audit edges from here on: {record_kind, newer_id, older_id, at, reason, pass_id, undone_by}, oldest first
//   older    : LIST<MAP>   audit edges back from here, likewise
//
// why: from every record that is reached only its own edges are read, so a chain costs what it holds.
CYPHER 25
CALL () {
  CALL () {
    MATCH (n:Fact {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
    RETURN 1 AS place, {kind: 'fact', closed_by: nullIf(n.invalidated_by, ''), closed_at: toString(n.closed_at),
      names_record: EXISTS { MATCH (o:Fact {namespace: $namespace, id: n.invalidated_by}) WHERE o.live IS NOT NULL }} AS mark
   UNION ALL
    MATCH (n:Entity {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
    RETURN 2 AS place, {kind: 'entity', closed_by: n.superseded_by, closed_at: toString(n.invalidated_at),
      names_record: EXISTS { MATCH (o:Entity {namespace: $namespace, id: n.superseded_by}) WHERE o.live IS NOT NULL }} AS mark
   UNION ALL
    MATCH (n:Episode {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
    RETURN 3 AS place, {kind: 'episode', names_record: false} AS mark
   UNION ALL
    MATCH (n:Message {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
    RETURN 4 AS place, {kind: 'message', names_record: false} AS mark
   UNION ALL
    MATCH (n:Theme {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
    RETURN 5 AS place, {kind: 'theme', names_record: false} AS mark
   UNION ALL
    MATCH ()-[r:RELATES_TO {namespace: $namespace, id: $record_id}]->()
    RETURN 6 AS place, {kind: 'relationship', closed_by: nullIf(r.invalidated_by, ''), closed_at: toString(r.closed_at),
      names_record: EXISTS { MATCH ()-[o:RELATES_TO {namespace: $namespace, id: r.invalidated_by}]->() WHERE o.id <> r.id }} AS mark
  }
  WITH mark ORDER BY place
  RETURN collect(mark) AS marks
}
CALL () {
  MATCH (e:PassEntry {namespace: $namespace, record_id: $record_id})
  MATCH (p:Pass {namespace: $namespace, id: e.pass_id})
  WITH e, p ORDER BY p.at, p.id, e.position
  RETURN collect({pass_id: p.id, pass_kind: p.kind, at: toString(p.at), record_kind: e.record_kind, action: e.action,
    reason: e.reason, fields: coalesce(e.fields, []), superseded_by: e.superseded_by, undone_by: p.undone_by}) AS steps
}
CALL () {
  CALL () {
    MATCH (n:Fact {namespace: $namespace, id: $record_id}) RETURN n
    UNION ALL
    MATCH (n:Entity {namespace: $namespace, id: $record_id}) RETURN n
  }
  MATCH (n)<-[:SUPERSEDES*0..]-(at)
  WITH DISTINCT at
  MATCH (at)<-[s:SUPERSEDES]-(newer)
  WITH s, at, newer ORDER BY s.at, newer.id, at.id, s.pass_id
  RETURN collect({record_kind: CASE WHEN at:Fact THEN 'fact' ELSE 'entity' END, newer_id: newer.id, older_id: at.id,
    at: toString(s.at), reason: s.reason, pass_id: s.pass_id, undone_by: s.undone_by}) AS newer
}
CALL () {
  CALL () {
    MATCH (n:Fact {namespace: $namespace, id: $record_id}) RETURN n
    UNION ALL
    MATCH (n:Entity {namespace: $namespace, id: $record_id}) RETURN n
  }
  MATCH (n)-[:SUPERSEDES*0..]->(at)
  WITH DISTINCT at
  MATCH (at)-[s:SUPERSEDES]->(older)
  WITH s, at, older ORDER BY s.at, at.id, older.id, s.pass_id
  RETURN collect({record_kind: CASE WHEN at:Fact THEN 'fact' ELSE 'entity' END, newer_id: at.id, older_id: older.id,
    at: toString(s.at), reason: s.reason, pass_id: s.pass_id, undone_by: s.undone_by}) AS older
}
RETURN marks, steps, newer, older
