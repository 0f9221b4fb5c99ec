// What passes did to a record, oldest first.
//
// params:
//   $namespace : STRING
//   $record_id : STRING
// returns:
//   pass, entry : MAP   the records' fields, the embedding as VECTOR
CYPHER 25
MATCH (e:PassEntry {namespace: $namespace, record_id: $record_id})
MATCH (p:Pass {namespace: $namespace, id: e.pass_id})
RETURN p {.id, .kind, .changes, .is_hard, .undoes, .undone_by, is_erased: coalesce(p.is_erased, false), at: toString(p.at)} AS pass,
  e {.record_kind, .record_id, .action, .reason, .superseded_by, .fields, .before, .refers_to, .fingerprint, .uses_after,
  last_use_after: toString(e.last_use_after),
  embedding: CASE WHEN e.embedding_1 IS NOT NULL THEN vector(e.embedding_1, 384, FLOAT32)
    WHEN e.embedding IS NOT NULL AND e.no_embedding_1 IS NULL THEN vector(e.embedding, 384, FLOAT32) END} AS entry
ORDER BY p.at, p.id, e.position
