// The nearest items of one scope in some tiers: tiers in their order, then best first, ties by id.
//
// params:
//   $namespace : STRING
//   $tiers     : LIST<STRING>
//   $scope     : STRING    '': items without a scope
//   $embedding : VECTOR    of the namespace's embedding space
//   $limit     : INTEGER   the most items of a tier, 1 or more
//   $least     : FLOAT     the least cosine, included
// returns:
//   tier, id, text : STRING
//   metadata       : STRING | NULL   JSON
//   remembered_at  : STRING          UTC
//   uses           : INTEGER
//   similarity     : FLOAT           the cosine
//
// why: tier and scope are compared inside the search, before the limit: items of other scopes take no place in it.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
UNWIND range(0, size($tiers) - 1) AS place
WITH place, $tiers[place] AS tier
CALL (tier) {
  MATCH (item:TierItem)
    SEARCH item IN (VECTOR INDEX tier_item_embedding_1 FOR $embedding
      WHERE item.namespace = $namespace AND item.tier = tier AND item.scope = $scope LIMIT $limit) SCORE AS score
  RETURN item, 2 * score - 1 AS similarity
}
WITH place, tier, item, similarity WHERE similarity >= $least
RETURN tier, item.id AS id, item.text AS text, item.metadata AS metadata,
       toString(item.remembered_at) AS remembered_at, item.uses AS uses, similarity
ORDER BY place, similarity DESC, id
