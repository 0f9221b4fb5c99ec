// How many records of each kind have a vector, and how many of these lack one of the space that the namespace moves to.
//
// params:
//   $namespace : STRING
//   $new       : STRING   `embedding_<n>` of the space that it moves to
// returns, a row for each kind of which there is any:
//   kind     : STRING
//   embedded : INTEGER    with a vector of the namespace's space
//   skipped  : INTEGER    of these, those of which no other can be made
//   missing  : INTEGER    of these, those that have not been looked at
CYPHER 25
CALL () {
  MATCH (n:Message {namespace: $namespace}) WHERE n.id >= '' AND n.embedding_1 IS NOT NULL
  RETURN 'message' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
 UNION ALL
  MATCH (n:Entity {namespace: $namespace}) WHERE n.id >= '' AND n.embedding_1 IS NOT NULL
  RETURN 'entity' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
 UNION ALL
  MATCH (n:Episode {namespace: $namespace}) WHERE n.id >= '' AND n.embedding_1 IS NOT NULL
  RETURN 'episode' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
 UNION ALL
  MATCH (n:Fact {namespace: $namespace}) WHERE n.id >= '' AND n.embedding_1 IS NOT NULL
  RETURN 'fact' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
 UNION ALL
  MATCH (n:Theme {namespace: $namespace}) WHERE n.id >= '' AND n.embedding_1 IS NOT NULL
  RETURN 'theme' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
 UNION ALL
  MATCH (n:TierItem {namespace: $namespace}) WHERE n.tier >= '' AND n.scope >= '' AND n.id >= '' AND n.embedding_1 IS NOT NULL
  RETURN 'tier_item' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
 UNION ALL
  MATCH (n:PassEntry {namespace: $namespace}) WHERE n.pass_id >= '' AND n.position >= 0
    AND coalesce(n.embedding_1, n.embedding) IS NOT NULL
  RETURN 'kept' AS kind, count(n) AS embedded, count(n['no_' + $new]) AS skipped,
         count(CASE WHEN n[$new] IS NULL AND n['no_' + $new] IS NULL THEN 1 END) AS missing
}
RETURN kind, embedded, skipped, missing
ORDER BY kind
