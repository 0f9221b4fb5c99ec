// Items of one durable tier, a page at a time.
//
// params:
//   $namespace : STRING
//   $tier      : STRING
//   $scope     : STRING    scope of the last item of the page before; '' too: items without a scope
//   $after     : STRING    id of that item; '': from the start
//   $limit     : INTEGER
// returns:
//   item : MAP   the record's fields, the scope '' where there is none, metadata as JSON, the embedding as VECTOR
CYPHER 25
MATCH (i:TierItem {namespace: $namespace, tier: $tier})
WHERE i.scope >= $scope AND i.id >= '' AND (i.scope > $scope OR i.id > $after)
WITH i ORDER BY i.namespace, i.tier, i.scope, i.id LIMIT $limit
RETURN i {.tier, .scope, .id, .text, .metadata, .uses, remembered_at: toString(i.remembered_at),
  embedding: vector(i.embedding_1, 384, FLOAT32)} AS item
ORDER BY i.scope, i.id
