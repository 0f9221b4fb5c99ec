// Removes facts with the edges they own. One that an episode, a theme or an audit edge still names becomes a placeholder.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
// returns (one row):
//   removed      : LIST<STRING>         ids of those that were stored
//   placeholders : LIST<[label, key]>   placeholders and tags whose last reference this write took away
//   related      : LIST<STRING>         ids of those whose statement pointed to an entity
//
// why: REMOVE locks what is to go, and then it is looked up again, since a property may still be known from before the
// lock: of two that remove a record, one does. The ids told are those asked for, never read from what is gone.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (fact:Fact {namespace: $namespace, id: id}) WHERE NOT fact:Placeholder
  WITH fact, id ORDER BY id
  REMOVE fact.fresh
  WITH fact, id WHERE EXISTS {
    MATCH (still:Fact {namespace: $namespace, id: id}) WHERE still = fact AND NOT still:Placeholder
  }
  RETURN collect(fact) AS facts, collect(id) AS removed, collect(CASE WHEN EXISTS { (fact)-[:OBJECT]->() } THEN id END) AS related
}
CALL (facts) {
  UNWIND facts AS fact
  MATCH (fact)-[old:MENTIONS|FROM_EPISODE|CITES|TAGGED|SUBJECT|OBJECT]->(target)
  WITH old, target, CASE type(old) WHEN 'FROM_EPISODE' THEN 1 WHEN 'CITES' THEN 2 WHEN 'TAGGED' THEN 3 ELSE 0 END AS kind
  ORDER BY kind, coalesce(target.id, target.name)
  DELETE old
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL (facts) {
  UNWIND facts AS fact
  CALL (fact) {
    WITH fact WHERE EXISTS { (fact)--() }
    FOREACH (name IN [key IN keys(fact) WHERE NOT key IN ['namespace', 'id']] | SET fact[name] = null)
    SET fact:Placeholder
    UNION
    WITH fact WHERE NOT EXISTS { (fact)--() }
    DELETE fact
  }
}
CALL (left) {
  UNWIND left AS target
  WITH target ORDER BY coalesce(target.id, target.name)
  REMOVE target.fresh
  WITH target WHERE (target:Placeholder OR target:Tag) AND NOT EXISTS { (target)--() }
  WITH target, [[label IN labels(target) WHERE label <> 'Placeholder'][0], coalesce(target.id, target.name)] AS gone
  DELETE target
  RETURN collect(gone) AS placeholders
}
RETURN removed, placeholders, related
