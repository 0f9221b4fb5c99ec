// Items of the durable tiers, a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $tier      : STRING    tier of the last item of the page before; '': from the start
//   $scope     : STRING    its scope
//   $after     : STRING    its id
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields without the embedding, the scope '' where there is none, metadata as JSON
CYPHER 25
MATCH (n:TierItem {namespace: $namespace})
WHERE n.tier >= $tier AND n.scope >= '' AND n.id >= ''
  AND (n.tier > $tier OR n.scope > $scope OR (n.scope = $scope AND n.id > $after))
WITH n ORDER BY n.namespace, n.tier, n.scope, n.id LIMIT $limit
RETURN n {.tier, .scope, .id, .text, .metadata, .uses, remembered_at: toString(n.remembered_at)} AS record
ORDER BY n.tier, n.scope, n.id
