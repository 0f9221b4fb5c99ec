// Nearest facts, best first, ties by latest start, then id.
//
// params:
//   $namespace   : STRING
//   $embedding   : VECTOR                  of the namespace's embedding space
//   $limit       : INTEGER                 the most hits
//   $asked       : INTEGER                 how many the index is asked for, some more than $limit: at its cut it keeps any of equals
//   $least       : FLOAT                   the least cosine, included
//   $standing    : [INTEGER, INTEGER]      which ones, from and to, as fact.put has them
//   $valid_at    : ZONED DATETIME | NULL   only facts that hold at this instant
//   $theme_ids   : LIST<STRING> | NULL     only facts of these themes
// returns:
//   id : STRING, score : FLOAT   the cosine
//
// why: a condition that may be absent cannot be written inside a search, so there is one search for each of the four
// cases and one of them runs. Each filter acts inside the index, before the limit.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
CALL () {
  WITH 1 AS go WHERE $valid_at IS NULL AND $theme_ids IS NULL
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding
    WHERE f.namespace = $namespace AND f.standing >= $standing[0] AND f.standing <= $standing[1] LIMIT $asked) SCORE AS similarity
  RETURN f, similarity
 UNION ALL
  WITH 1 AS go WHERE $valid_at IS NOT NULL AND $theme_ids IS NULL
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding
    WHERE f.namespace = $namespace AND f.standing >= $standing[0] AND f.standing <= $standing[1]
      AND f.valid_from <= $valid_at AND f.valid_until > $valid_at LIMIT $asked) SCORE AS similarity
  RETURN f, similarity
 UNION ALL
  WITH 1 AS go WHERE $valid_at IS NULL AND $theme_ids IS NOT NULL
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding
    WHERE f.namespace = $namespace AND f.standing >= $standing[0] AND f.standing <= $standing[1]
      AND f.theme_id IN $theme_ids LIMIT $asked) SCORE AS similarity
  RETURN f, similarity
 UNION ALL
  WITH 1 AS go WHERE $valid_at IS NOT NULL AND $theme_ids IS NOT NULL
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding
    WHERE f.namespace = $namespace AND f.standing >= $standing[0] AND f.standing <= $standing[1]
      AND f.valid_from <= $valid_at AND f.valid_until > $valid_at AND f.theme_id IN $theme_ids LIMIT $asked) SCORE AS similarity
  RETURN f, similarity
}
WITH f, 2 * similarity - 1 AS score WHERE score >= $least
RETURN f.id AS id, score
ORDER BY score DESC, f.valid_from DESC, f.id LIMIT $limit
