// Keys and orders of scored runs and of what the retention gate ruled. Every key begins with the namespace.
CYPHER 25 CREATE CONSTRAINT ledger_namespace IF NOT EXISTS FOR (n:Ledger) REQUIRE n.namespace IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT run_id IF NOT EXISTS FOR (n:Run) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT gate_pass_id IF NOT EXISTS FOR (n:GatePass) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE INDEX run_sequence IF NOT EXISTS FOR (n:Run) ON (n.namespace, n.sequence);
CYPHER 25 CREATE INDEX decided_at IF NOT EXISTS FOR ()-[r:DECIDED]-() ON (r.namespace, r.decided_at);
CYPHER 25 CREATE INDEX decided_verdict IF NOT EXISTS FOR ()-[r:DECIDED]-() ON (r.namespace, r.verdict, r.decided_at);
CYPHER 25 CREATE INDEX decided_reason IF NOT EXISTS FOR ()-[r:DECIDED]-() ON (r.namespace, r.reason, r.decided_at);
