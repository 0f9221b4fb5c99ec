// Writes a batch of whole themes: properties, embedding and the edges that a theme owns.
//
// params:
//   $namespace          : STRING
//   $embedding_property : STRING   `embedding_<n>` of the namespace's space
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id         : STRING
//     properties : MAP             every property a theme can have, absent ones as null
//     embedding  : VECTOR | NULL
//     facts      : LIST<[STRING, LIST<INTEGER>]>   each target once, with its positions in the record's list
//     size       : INTEGER         length of the record's list
// returns (one row):
//   created, changed : LIST<STRING>          ids; filling a placeholder counts as created
//   placeholders     : LIST<STRING>          ids of facts that are named but not stored, made by this write
//   removed          : LIST<[label, id]>     placeholders whose last reference this write took away
//
// why: as in fact.put. `next_position` lets theme.add_facts append without reading the members.
CYPHER 25
UNWIND $rows AS row
MERGE (theme:Theme {namespace: $namespace, id: row.id}) ON CREATE SET theme:Placeholder
WITH theme, row, theme:Placeholder AS created
REMOVE theme:Placeholder
SET theme += row.properties, theme[$embedding_property] = null
SET theme.live = true, theme.next_position = row.size
WITH theme, row, created
CALL (theme, row) {
  WITH theme, row WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(theme, $embedding_property, row.embedding)
}
WITH collect({theme: theme, row: row, created: created}) AS written

CALL (written) {                                   // edges that the record no longer names
  UNWIND written AS w
  WITH w WHERE NOT w.created
  WITH w.theme AS theme, [x IN w.row.facts | x[0]] AS fact_ids
  MATCH (theme)-[old:HAS_FACT]->(target) WHERE NOT target.id IN fact_ids
  WITH old, target ORDER BY target.id
  DELETE old
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL (written) {                                   // facts that are not stored yet become placeholders
  UNWIND written AS w UNWIND w.row.facts AS item
  WITH DISTINCT item[0] AS id ORDER BY id
  MERGE (target:Fact {namespace: $namespace, id: id}) ON CREATE SET target:Placeholder, target.fresh = true
  WITH target, id WHERE target.fresh
  REMOVE target.fresh
  RETURN collect(id) AS placeholders
}
CALL (written) {                                   // edges, in the order of their targets
  UNWIND written AS w UNWIND w.row.facts AS item
  WITH w.theme AS theme, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Fact {namespace: $namespace, id: key})
  MERGE (theme)-[edge:HAS_FACT]->(target)
  SET edge.namespace = $namespace, edge.positions = positions
}
CALL (left) {                                      // what nobody names any more
  UNWIND left AS target
  WITH target ORDER BY target.id
  REMOVE target.fresh
  WITH target WHERE target:Placeholder AND NOT EXISTS { (target)--() }
  WITH target, [[label IN labels(target) WHERE label <> 'Placeholder'][0], target.id] AS gone
  DELETE target
  RETURN collect(gone) AS removed
}
RETURN [w IN written WHERE w.created | w.row.id] AS created, [w IN written WHERE NOT w.created | w.row.id] AS changed,
       placeholders, removed
