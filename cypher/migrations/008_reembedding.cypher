// Which namespaces are in an embedding space, move to it, or have vectors of it left: an index that nobody needs is dropped.
CYPHER 25 CREATE INDEX namespace_space IF NOT EXISTS FOR (n:Namespace) ON (n.space);
CYPHER 25 CREATE INDEX namespace_next_space IF NOT EXISTS FOR (n:Namespace) ON (n.next_space);
CYPHER 25 CREATE INDEX namespace_left_space IF NOT EXISTS FOR (n:Namespace) ON (n.left_space);
