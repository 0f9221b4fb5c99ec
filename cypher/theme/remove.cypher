// Removes themes with the edges they own; their facts stay.
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
  MATCH (theme:Theme {namespace: $namespace, id: id}) WHERE NOT theme:Placeholder
  WITH theme, id ORDER BY id
  REMOVE theme.fresh
  WITH theme, id WHERE EXISTS {
    MATCH (still:Theme {namespace: $namespace, id: id}) WHERE still = theme AND NOT still:Placeholder
  }
  RETURN collect(theme) AS themes, collect(id) AS removed
}
CALL (themes) {
  UNWIND themes AS theme
  MATCH (theme)-[old:HAS_FACT]->(target)
  WITH old, target ORDER BY target.id
  DELETE old
  WITH DISTINCT target
  RETURN collect(target) AS left
}
CALL (themes) {
  UNWIND themes AS theme
  CALL (theme) {
    WITH theme WHERE EXISTS { (theme)--() }
    FOREACH (name IN [key IN keys(theme) WHERE NOT key IN ['namespace', 'id']] | SET theme[name] = null)
    SET theme:Placeholder
    UNION
    WITH theme WHERE NOT EXISTS { (theme)--() }
    DELETE theme
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
