// Ids of the facts that decay has weakened most, least score first, ties by latest start, then id.
//
// params:
//   $namespace : STRING
//   $now       : INTEGER               the instant to score at, in microseconds since 1970
//   $half_life : FLOAT                 in days
//   $uses      : MAP<STRING, INTEGER>  access counts to score with instead of the stored ones, by fact
//   $without   : MAP<STRING, BOOLEAN>  facts to pass over
//   $count     : INTEGER               the most ids
// returns:
//   id : STRING
//
// why: the score needs three properties of each fact and nothing else, so the facts stay where they are. Maps are looked
// up in constant time, lists are not.
CYPHER 25
MATCH (f:Fact {namespace: $namespace})
WHERE f.valid_from IS NOT NULL AND f.live AND NOT f.quarantined AND $without[f.id] IS NULL
WITH f, coalesce($uses[f.id], f.access_count, 0) AS uses,
     CASE WHEN f.last_accessed_at > f.valid_from THEN f.last_accessed_at ELSE f.valid_from END AS since
WITH f, uses, ($now - (since.epochMillis * 1000 + since.microsecond % 1000)) / 86400000000.0 AS age
WITH f, CASE WHEN uses > 1 THEN uses ELSE 1 END * 2.0 ^ (-age / $half_life) AS score
ORDER BY score, f.valid_from DESC, f.id LIMIT $count
RETURN f.id AS id
