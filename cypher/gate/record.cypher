// The second part of recording a pass of the gate: the pass, its verdicts, and what they do to the facts.
//
// params:
//   $namespace       : STRING
//   $closed_token    : STRING           the same for closed and quarantined facts
//   $now             : ZONED DATETIME   UTC
//   $pass_id         : STRING
//   $pass            : MAP              properties of the pass
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id             : STRING
//     verdict        : MAP                     properties of the verdict
//     tags           : LIST<[STRING, LIST<INTEGER>]> | NULL   promoted: all its tags from now on, with positions
//     invalidated_by : STRING | NULL           evicted: the reason
// returns (one row):
//   removed : LIST<[label, key]>   tags that are on nothing any more
//
// why: the facts are locked by gate.begin. Only tags, or the mark of being closed with what is copied from it, are
// written: whatever else somebody changed meanwhile stays.
CYPHER 25
CREATE (pass:GatePass {namespace: $namespace, id: $pass_id})
SET pass += $pass
WITH pass
CALL (pass) {
  UNWIND $rows AS row
  MATCH (fact:Fact {namespace: $namespace, id: row.id})
  CREATE (pass)-[edge:DECIDED]->(fact)
  SET edge = row.verdict, edge.namespace = $namespace
}
CALL () {
  UNWIND [row IN $rows WHERE row.invalidated_by IS NOT NULL] AS row
  MATCH (fact:Fact {namespace: $namespace, id: row.id})
  SET fact.invalidated_by = row.invalidated_by, fact.live = false, fact.standing = CASE WHEN fact.quarantined THEN 2 ELSE -1 END,
    fact.closed_at = $now, fact.namespace_token = $closed_token
}
CALL () {                                          // tags that a promoted fact no longer has
  UNWIND [row IN $rows WHERE row.tags IS NOT NULL] AS row
  MATCH (fact:Fact {namespace: $namespace, id: row.id})-[old:TAGGED]->(tag:Tag)
  WHERE NOT tag.name IN [item IN row.tags | item[0]]
  WITH old, tag ORDER BY tag.name
  DELETE old
  WITH DISTINCT tag
  RETURN collect(tag) AS left
}
CALL () {
  UNWIND [row IN $rows WHERE row.tags IS NOT NULL] AS row UNWIND row.tags AS item
  WITH DISTINCT item[0] AS name ORDER BY name
  MERGE (:Tag {namespace: $namespace, name: name})
}
CALL () {
  UNWIND [row IN $rows WHERE row.tags IS NOT NULL] AS row UNWIND row.tags AS item
  WITH row.id AS id, item[0] AS name, item[1] AS positions ORDER BY name
  MATCH (fact:Fact {namespace: $namespace, id: id})
  MATCH (tag:Tag {namespace: $namespace, name: name})
  MERGE (fact)-[edge:TAGGED]->(tag)
  SET edge.namespace = $namespace, edge.positions = positions
}
CALL () {                                          // the verified tag may be the one that quarantines
  UNWIND [row IN $rows WHERE any(item IN row.tags WHERE item[0] = 'quarantined')] AS row
  MATCH (fact:Fact {namespace: $namespace, id: row.id})
  SET fact.quarantined = true, fact.standing = CASE WHEN fact.live THEN 1 ELSE 2 END, fact.namespace_token = $closed_token
}
CALL (left) {
  UNWIND left AS tag
  WITH tag ORDER BY tag.name
  REMOVE tag.fresh
  WITH tag WHERE NOT EXISTS { (tag)--() }
  WITH tag, ['Tag', tag.name] AS gone
  DELETE tag
  RETURN collect(gone) AS removed
}
RETURN removed
