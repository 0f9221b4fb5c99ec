// Writes a batch of whole episodes: properties, embedding and the edges that an episode owns. Their messages are put before.
//
// params:
//   $namespace          : STRING
//   $embedding_property : STRING   `embedding_<n>` of the namespace's space
//   $rows : LIST<MAP>, sorted by id, each id once:
//     id              : STRING
//     properties      : MAP             every property an episode can have, absent ones as null
//     embedding       : VECTOR | NULL
//     messages, facts : LIST<[STRING, LIST<INTEGER>]>   each target once, with its positions in the record's list
// returns (one row):
//   created, changed : LIST<STRING>          ids; filling a placeholder counts as created
//   placeholders     : LIST<STRING>          ids of facts that are named but not stored, made by this write
//   removed          : LIST<[label, id]>     placeholders whose last reference this write took away
//
// why: all episodes first, then all targets, then all edges, each in the order of their keys: writers lock in one order.
CYPHER 25
UNWIND $rows AS row
MERGE (episode:Episode {namespace: $namespace, id: row.id}) ON CREATE SET episode:Placeholder
WITH episode, row, episode:Placeholder AS created
REMOVE episode:Placeholder
SET episode += row.properties, episode[$embedding_property] = null
SET episode.live = true
WITH episode, row, created
CALL (episode, row) {
  WITH episode, row WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(episode, $embedding_property, row.embedding)
}
WITH collect({episode: episode, row: row, created: created}) AS written

CALL (written) {                                   // edges that the record no longer names
  UNWIND written AS w
  WITH w WHERE NOT w.created
  WITH w.episode AS episode, [x IN w.row.messages | x[0]] AS message_ids, [x IN w.row.facts | x[0]] AS fact_ids
  MATCH (episode)-[old:HAS_MESSAGE|HAS_FACT]->(target)
  WHERE NOT CASE type(old) WHEN 'HAS_MESSAGE' THEN target.id IN message_ids ELSE target.id IN fact_ids END
  WITH episode, old, target ORDER BY type(old), target.id
  DELETE old
  WITH episode, target
  SET target.position = CASE WHEN target.episode_id = episode.id THEN null ELSE target.position END,
      target.context = CASE WHEN target.episode_id = episode.id THEN null ELSE target.context END,
      target.episode_id = CASE WHEN target.episode_id = episode.id THEN null ELSE target.episode_id END
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
  UNWIND written AS w UNWIND w.row.messages AS item
  WITH w.episode AS episode, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Message {namespace: $namespace, id: key})
  MERGE (episode)-[edge:HAS_MESSAGE]->(target)
  SET edge.namespace = $namespace, edge.positions = positions
  WITH episode, target
  MATCH (target)<-[former:HAS_MESSAGE]-(other:Episode) WHERE other <> episode
  DELETE former                                    // a message belongs to the episode that put it last
}
CALL (written) {
  UNWIND written AS w UNWIND w.row.facts AS item
  WITH w.episode AS episode, item[0] AS key, item[1] AS positions ORDER BY key
  MATCH (target:Fact {namespace: $namespace, id: key})
  MERGE (episode)-[edge:HAS_FACT]->(target)
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
