// Which namespaces a database has records of, for what works on the whole database; other people's nodes have none.
//
// params: none
// returns, a row for each namespace, by its name:
//   namespace : STRING | NULL   NULL: nodes that this library did not write
//   nodes     : INTEGER
CYPHER 25
MATCH (n) WHERE NOT n:Schema
RETURN coalesce(n.namespace, CASE WHEN n:Namespace THEN n.name END) AS namespace, count(n) AS nodes ORDER BY namespace
