// What was served to each run, until it is scored; and the records of a run, found by the run that made them.
CYPHER 25 CREATE CONSTRAINT serving_id IF NOT EXISTS FOR (n:Serving) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE INDEX serving_sequence IF NOT EXISTS FOR (n:Serving) ON (n.namespace, n.sequence);
CYPHER 25 CREATE INDEX fact_run IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.provenance_run_id);
CYPHER 25 CREATE INDEX episode_run IF NOT EXISTS FOR (n:Episode) ON (n.namespace, n.provenance_run_id);
CYPHER 25 CREATE INDEX message_run IF NOT EXISTS FOR (n:Message) ON (n.namespace, n.provenance_run_id);
CYPHER 25 CREATE INDEX related_run IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.namespace, r.provenance_run_id);
