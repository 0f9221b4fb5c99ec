// Keys of lifecycle passes and of what they did to each record; audit edges are found by their pass.
CYPHER 25 CREATE CONSTRAINT pass_id IF NOT EXISTS FOR (n:Pass) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE INDEX pass_at IF NOT EXISTS FOR (n:Pass) ON (n.namespace, n.at);
CYPHER 25 CREATE CONSTRAINT pass_entry_id IF NOT EXISTS FOR (n:PassEntry) REQUIRE (n.namespace, n.pass_id, n.position) IS UNIQUE;
CYPHER 25 CREATE INDEX pass_entry_record IF NOT EXISTS FOR (n:PassEntry) ON (n.namespace, n.record_id);
CYPHER 25 CREATE INDEX supersedes_pass IF NOT EXISTS FOR ()-[r:SUPERSEDES]-() ON (r.namespace, r.pass_id);
