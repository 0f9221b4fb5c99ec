// How many facts state something of some subjects and predicates; locks the subjects first.
//
// params:
//   $namespace : STRING
//   $rows : LIST<MAP>, each key once: {key : STRING (digest of subject and predicate), subject_id : STRING}
// returns (one row):
//   counted      : LIST<MAP>      {key, facts : INTEGER}
//   placeholders : LIST<STRING>   ids of subjects that are not stored, made by this statement
//
// why: the lock makes two writers of one subject and predicate go one after the other, and the second counts what the
// first wrote. A subject that is not stored is made a placeholder, which the facts that follow need anyway.
CYPHER 25
CALL () {
  UNWIND $rows AS row
  WITH DISTINCT row.subject_id AS id ORDER BY id
  MERGE (subject:Entity {namespace: $namespace, id: id}) ON CREATE SET subject:Placeholder, subject.fresh = true
  WITH subject, id, subject.fresh AS fresh
  REMOVE subject.fresh
  RETURN [x IN collect(CASE WHEN fresh THEN id END) WHERE x IS NOT NULL] AS placeholders
}
CALL () {
  UNWIND $rows AS row
  RETURN collect({key: row.key, facts: COUNT { (:Fact {namespace: $namespace, statement_key: row.key}) }}) AS counted
}
RETURN counted, placeholders
