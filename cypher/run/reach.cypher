// What a run made: its facts, those read from its messages or episodes, and its relationships; closed ones too.
//
// params:
//   $namespace : STRING
//   $run_id    : STRING
// returns (one row):
//   facts, relationships : LIST<STRING>   ids, sorted, each once
//
// why: each part begins at an index on the run; a plan made while it held next to nothing would read all of it. A fact that
// cites no message may have been read from any of its episode.
CYPHER 25
CALL () {
  MATCH (fact:Fact {namespace: $namespace, provenance_run_id: $run_id})
  USING INDEX SEEK fact:Fact(namespace, provenance_run_id)
  RETURN fact.id AS id
  UNION
  MATCH (message:Message {namespace: $namespace, provenance_run_id: $run_id})
  USING INDEX SEEK message:Message(namespace, provenance_run_id)
  WITH message
  MATCH (message)<-[:CITES]-(fact:Fact)
  RETURN fact.id AS id
  UNION
  MATCH (message:Message {namespace: $namespace, provenance_run_id: $run_id})
  USING INDEX SEEK message:Message(namespace, provenance_run_id)
  WITH message
  MATCH (message)<-[:HAS_MESSAGE]-(:Episode)<-[:FROM_EPISODE]-(fact:Fact)
  WHERE NOT EXISTS { (fact)-[:CITES]->() }
  RETURN fact.id AS id
  UNION
  MATCH (episode:Episode {namespace: $namespace, provenance_run_id: $run_id})
  USING INDEX SEEK episode:Episode(namespace, provenance_run_id)
  WITH episode
  MATCH (episode)<-[:FROM_EPISODE]-(fact:Fact)
  RETURN fact.id AS id
}
WITH id ORDER BY id
WITH collect(id) AS facts
CALL () {
  MATCH ()-[edge:RELATES_TO {namespace: $namespace, provenance_run_id: $run_id}]->()
  USING INDEX SEEK edge:RELATES_TO(namespace, provenance_run_id)
  WITH DISTINCT edge.id AS id ORDER BY id
  RETURN collect(id) AS relationships
}
RETURN facts, relationships
