// What a pass did to each record, in the order of its plan.
//
// params:
//   $namespace      : STRING
//   $pass_id        : STRING
//   $limit, $offset : INTEGER
// returns:
//   entry : MAP   the record's fields, the embedding as VECTOR
//
// why: positions are without gaps, so a page is a range of the key.
CYPHER 25
MATCH (e:PassEntry {namespace: $namespace, pass_id: $pass_id}) WHERE e.position >= $offset AND e.position < $offset + $limit
RETURN e {.record_kind, .record_id, .action, .reason, .superseded_by, .fields, .before, .refers_to, .fingerprint, .uses_after,
  last_use_after: toString(e.last_use_after),
  embedding: CASE WHEN e.embedding_1 IS NOT NULL THEN vector(e.embedding_1, 384, FLOAT32)
    WHEN e.embedding IS NOT NULL AND e.no_embedding_1 IS NULL THEN vector(e.embedding, 384, FLOAT32) END} AS entry
ORDER BY e.position
