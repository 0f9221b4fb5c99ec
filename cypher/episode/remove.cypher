// Removes episodes with the edges they own; their messages stay. One that a fact still names becomes a placeholder again.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   sorted, each once
// returns (one row):
//   removed      : LIST<STRING>         ids of those that were stored
//   placeholders : LIST<[label, id]>    placeholders whose last reference this write took away
//
// why: REMOVE locks what is to go, and then it is looked up again, since a property may still be known from before the
// lock: of two that remove a record, one does. The ids told are those asked for, never read from what is gone.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (episode:Episode {namespace: $namespace, id: id}) WHERE NOT episode:Placeholder
  WITH episode, id ORDER BY id
  REMOVE episode.fresh
  WITH episode, id WHERE EXISTS {
    MATCH (still:Episode {namespace: $namespace, id: id}) WHERE still = episode AND NOT still:Placeholder
  }
  RETURN collect(episode) AS episodes, collect(id) AS removed
}
CALL (episodes) {
  UNWIND episodes AS episode
  MATCH (episode)-[old:HAS_MESSAGE|HAS_FACT]->(target)
  WITH episode, old, target ORDER BY type(old), target.id
  DELETE old
  WITH episode, target
  SET target.position = CASE WHEN target.episode_id = episode.id THEN null ELSE target.position END,
      target.context = CASE WHEN target.episode_id = episode.id THEN null ELSE target.context END,
      target.episode_id = CASE WHEN target.episode_id = episode.id THEN null ELSE target.episode_id END
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL (episodes) {
  UNWIND episodes AS episode
  CALL (episode) {
    WITH episode WHERE EXISTS { (episode)--() }
    FOREACH (name IN [key IN keys(episode) WHERE NOT key IN ['namespace', 'id']] | SET episode[name] = null)
    SET episode:Placeholder
    UNION
    WITH episode WHERE NOT EXISTS { (episode)--() }
    DELETE episode
  }
}
CALL (left) {
  UNWIND left AS target
  WITH target ORDER BY target.id
  REMOVE target.fresh
  WITH target WHERE target:Placeholder AND NOT EXISTS { (target)--() }
  WITH target, [[label IN labels(target) WHERE label <> 'Placeholder'][0], target.id] AS gone
  DELETE target
  RETURN collect(gone) AS placeholders
}
RETURN removed, placeholders
