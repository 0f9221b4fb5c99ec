// Takes vectors of the space that a namespace moves to from records that were written just now: they are made anew.
//
// params:
//   $namespace : STRING
//   $new       : STRING                   `embedding_<n>` of that space
//   $messages, $entities, $episodes, $facts, $themes : LIST<STRING>   ids
//   $items     : LIST<LIST<STRING>>       tier, scope and id of items of the durable tiers
// returns: nothing
CYPHER 25
CALL () {
  UNWIND $messages AS id
  MATCH (n:Message {namespace: $namespace, id: id})
  RETURN n
 UNION ALL
  UNWIND $entities AS id
  MATCH (n:Entity {namespace: $namespace, id: id})
  RETURN n
 UNION ALL
  UNWIND $episodes AS id
  MATCH (n:Episode {namespace: $namespace, id: id})
  RETURN n
 UNION ALL
  UNWIND $facts AS id
  MATCH (n:Fact {namespace: $namespace, id: id})
  RETURN n
 UNION ALL
  UNWIND $themes AS id
  MATCH (n:Theme {namespace: $namespace, id: id})
  RETURN n
 UNION ALL
  UNWIND $items AS key
  MATCH (n:TierItem {namespace: $namespace, tier: key[0], scope: key[1], id: key[2]})
  RETURN n
}
SET n[$new] = null, n['no_' + $new] = null
