// Statements are found by their subject and predicate.
CYPHER 25 CREATE INDEX fact_statement IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.statement_key);
