// Nearest facts among those with some tags or changes, best first, ties by latest start, then id.
//
// params:
//   $namespace     : STRING
//   $embedding     : VECTOR                  of the namespace's embedding space
//   $limit         : INTEGER                 the most hits
//   $least         : FLOAT                   the least cosine, included
//   $live          : LIST<BOOLEAN>           [true], or [true, false] for closed ones too
//   $quarantined   : LIST<BOOLEAN>           [false], or [true, false] for quarantined ones too
//   $valid_at      : ZONED DATETIME | NULL   only facts that hold at this instant
//   $theme_ids     : LIST<STRING> | NULL     only facts of these themes
//   $tags          : LIST<STRING>            only facts with one of these; []: no filter
//   $believed_at   : ZONED DATETIME | NULL   only facts recorded by this instant; closed later counts as open
//   $changed_since : ZONED DATETIME | NULL   only facts that began or end after this instant
// returns:
//   id : STRING, score : FLOAT   the cosine
//
// why: none of these filters can stand inside a search of the index, and behind it would lose hits. So the facts that pass are
// listed through their tags, or through the indexes on both ends of a window, and each is compared: exact, and the work
// is bounded by their number.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
CALL () {
  WITH 1 AS go WHERE $tags <> []
  UNWIND $tags AS name
  MATCH (f:Fact)-[:TAGGED]->(:Tag {namespace: $namespace, name: name})
  WHERE $changed_since IS NULL OR f.valid_from > $changed_since
    OR (f.valid_until > $changed_since AND f.valid_until < datetime({year: 10000, timezone: 'Z'}))
  RETURN DISTINCT f
 UNION ALL
  WITH 1 AS go WHERE $tags = [] AND $changed_since IS NULL
  MATCH (f:Fact {namespace: $namespace}) WHERE f.valid_from IS NOT NULL
  RETURN f
 UNION ALL
  WITH 1 AS go WHERE $tags = [] AND $changed_since IS NOT NULL
  CALL () {
    MATCH (f:Fact {namespace: $namespace}) WHERE f.valid_from > $changed_since
    RETURN f
   UNION
    MATCH (f:Fact {namespace: $namespace})
    WHERE f.valid_until > $changed_since AND f.valid_until < datetime({year: 10000, timezone: 'Z'})
    RETURN f
  }
  RETURN f
}
WITH f WHERE f.embedding_1 IS NOT NULL AND (f.live IN $live OR f.closed_at > $believed_at)
  AND ($believed_at IS NULL OR f.recorded_at <= $believed_at) AND f.quarantined IN $quarantined
  AND ($valid_at IS NULL OR (f.valid_from <= $valid_at AND f.valid_until > $valid_at))
  AND ($theme_ids IS NULL OR f.theme_id IN $theme_ids)
WITH f, 1 - vector_distance(vector(f.embedding_1, 384, FLOAT32), $embedding, COSINE) AS score WHERE score >= $least
RETURN f.id AS id, score
ORDER BY score DESC, f.valid_from DESC, f.id LIMIT $limit
