// Writes a batch of whole facts: properties, embedding and the four kinds of edges that a fact owns, exactly as given.
//
// params:
//   $namespace                   : STRING
//   $namespace_token             : STRING           the namespace as one word of the full-text index
//   $closed_token                : STRING           the same for closed and quarantined facts, which ordinary searches then never meet
//   $embedding_property          : STRING           `embedding_<n>` of the namespace's space
//   $now                         : ZONED DATETIME   UTC
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id         : STRING
//     properties : MAP             every property a fact can have, absent ones as null
//     embedding  : VECTOR | NULL
//     entities, episodes, messages, tags : LIST<[STRING, LIST<INTEGER>]>   each target once, with its positions in the record's list
//     subject, object : STRING | NULL   entities of its statement
// returns (one row):
//   created, changed : LIST<STRING>         ids; filling a placeholder counts as created
//   placeholders     : MAP                  {entities, episodes, messages}: ids of the placeholders made
//   removed          : LIST<[label, key]>   placeholders and tags whose last reference this write took away
//   related          : LIST<STRING>         ids of facts whose statement pointed to an entity before
//
// why: all facts first, then all targets, then all edges, each in the order of their keys, so that writers lock in one
// order. `+=` and not `=`: setting a key property takes the exclusive lock on its index entry even when nothing changes.
// `standing` is -1 for a closed fact, 0 for one that counts, 1 for a quarantined one, 2 for one that is both, so that what a
// search may return is always one range. Of a word, as `live` is, an index with filters collects all places anew for each
// search, which can take as long as the search; of a range that all fall into it does not.
// `fresh` lives only inside this statement; REMOVE on a node without it changes nothing and locks the node, so that the
// second look at its edges is final.
CYPHER 25
UNWIND $rows AS row
MERGE (fact:Fact {namespace: $namespace, id: row.id}) ON CREATE SET fact:Placeholder
WITH fact, row, fact:Placeholder AS created, coalesce(row.properties.invalidated_by, '') = '' AS live,
     fact.recorded_at AS recorded_at, EXISTS { (fact)-[:OBJECT]->() } AS related,
     CASE WHEN NOT fact.live THEN fact.closed_at END AS closed_at
REMOVE fact:Placeholder
SET fact += row.properties, fact[$embedding_property] = null,
    fact.quarantined = any(item IN row.tags WHERE item[0] = 'quarantined')
SET fact.valid_until = coalesce(row.properties.valid_until, datetime({year: 10000, timezone: 'Z'})),
    fact.live = live,
    fact.standing = CASE WHEN fact.quarantined THEN CASE WHEN live THEN 1 ELSE 2 END WHEN live THEN 0 ELSE -1 END,
    fact.namespace_token = CASE WHEN NOT live OR fact.quarantined THEN $closed_token ELSE $namespace_token END,
    fact.recorded_at = coalesce(recorded_at, row.properties.recorded_at, $now),
    fact.closed_at = CASE WHEN NOT live THEN coalesce(closed_at, row.properties.closed_at, $now) END
WITH fact, row, created, related
CALL (fact, row) {
  WITH fact, row WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(fact, $embedding_property, row.embedding)
}
WITH collect({fact: fact, row: row, created: created, related: related}) AS written

CALL (written) {                                   // edges that the record no longer names
  UNWIND written AS w
  WITH w WHERE NOT w.created
  WITH w.fact AS fact, [x IN w.row.entities | x[0]] AS entity_ids, [x IN w.row.episodes | x[0]] AS episode_ids,
       [x IN w.row.messages | x[0]] AS message_ids, [x IN w.row.tags | x[0]] AS tag_names,
       coalesce(w.row.subject, '') AS subject, coalesce(w.row.object, '') AS object
  MATCH (fact)-[old:MENTIONS|FROM_EPISODE|CITES|TAGGED|SUBJECT|OBJECT]->(target)
  WHERE NOT CASE type(old)
      WHEN 'MENTIONS' THEN target.id IN entity_ids
      WHEN 'FROM_EPISODE' THEN target.id IN episode_ids
      WHEN 'CITES' THEN target.id IN message_ids
      WHEN 'SUBJECT' THEN target.id = subject
      WHEN 'OBJECT' THEN target.id = object
      ELSE target.name IN tag_names END
  WITH old, target, CASE type(old) WHEN 'FROM_EPISODE' THEN 1 WHEN 'CITES' THEN 2 WHEN 'TAGGED' THEN 3 ELSE 0 END AS kind
  ORDER BY kind, coalesce(target.id, target.name)
  DELETE old
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL (written) {                                   // targets; those not stored yet become placeholders
  UNWIND written AS w UNWIND [x IN w.row.entities | x[0]] + [x IN [w.row.subject, w.row.object] WHERE x IS NOT NULL] AS id
  WITH DISTINCT id ORDER BY id
  MERGE (target:Entity {namespace: $namespace, id: id}) ON CREATE SET target:Placeholder, target.fresh = true
  WITH target, id WHERE target.fresh
  REMOVE target.fresh
  RETURN collect(id) AS new_entities
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.episodes AS item
  WITH DISTINCT item[0] AS id ORDER BY id
  MERGE (target:Episode {namespace: $namespace, id: id}) ON CREATE SET target:Placeholder, target.fresh = true
  WITH target, id WHERE target.fresh
  REMOVE target.fresh
  RETURN collect(id) AS new_episodes
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.messages AS item
  WITH DISTINCT item[0] AS id ORDER BY id
  MERGE (target:Message {namespace: $namespace, id: id}) ON CREATE SET target:Placeholder, target.fresh = true
  WITH target, id WHERE target.fresh
  REMOVE target.fresh
  RETURN collect(id) AS new_messages
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.tags AS item
  WITH DISTINCT item[0] AS name ORDER BY name
  MERGE (:Tag {namespace: $namespace, name: name})
}
CALL (written) {                                   // edges, in the order of their targets
  UNWIND written AS w UNWIND w.row.entities AS item
  WITH w.fact AS fact, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Entity {namespace: $namespace, id: key})
  MERGE (fact)-[edge:MENTIONS]->(target)
  SET edge.namespace = $namespace, edge.positions = positions
}
CALL (written) {
  UNWIND written AS w
  WITH w.fact AS fact, w.row.subject AS key WHERE key IS NOT NULL ORDER BY key
  MATCH (target:Entity {namespace: $namespace, id: key})
  MERGE (fact)-[edge:SUBJECT]->(target)
  SET edge.namespace = $namespace
}
CALL (written) {
  UNWIND written AS w
  WITH w.fact AS fact, w.row.object AS key WHERE key IS NOT NULL ORDER BY key
  MATCH (target:Entity {namespace: $namespace, id: key})
  MERGE (fact)-[edge:OBJECT]->(target)
  SET edge.namespace = $namespace
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.episodes AS item
  WITH w.fact AS fact, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Episode {namespace: $namespace, id: key})
  MERGE (fact)-[edge:FROM_EPISODE]->(target)
  SET edge.namespace = $namespace, edge.positions = positions
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.messages AS item
  WITH w.fact AS fact, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Message {namespace: $namespace, id: key})
  MERGE (fact)-[edge:CITES]->(target)
  SET edge.namespace = $namespace, edge.positions = positions
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.tags AS item
  WITH w.fact AS fact, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Tag {namespace: $namespace, name: key})
  MERGE (fact)-[edge:TAGGED]->(target)
  SET edge.namespace = $namespace, edge.positions = positions
}
CALL (left) {                                      // what nobody names any more
  UNWIND left AS target
  WITH target ORDER BY coalesce(target.id, target.name)
  REMOVE target.fresh
  WITH target WHERE (target:Placeholder OR target:Tag) AND NOT EXISTS { (target)--() }
  WITH target, [[label IN labels(target) WHERE label <> 'Placeholder'][0], coalesce(target.id, target.name)] AS gone
  DELETE target
  RETURN collect(gone) AS removed
}
RETURN [w IN written WHERE w.created | w.row.id] AS created, [w IN written WHERE NOT w.created | w.row.id] AS changed,
       {entities: new_entities, episodes: new_episodes, messages: new_messages} AS placeholders, removed,
       [w IN written WHERE w.related | w.row.id] AS related
