// Receipts of writes with an idempotency key, a page at a time.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last key of the page before; '': from the start
//   $limit     : INTEGER
// returns:
//   key     : STRING   in order
//   receipt : STRING   JSON
CYPHER 25
MATCH (write:Write {namespace: $namespace}) WHERE write.id > $after AND write.result IS NOT NULL
RETURN write.id AS key, write.result AS receipt
ORDER BY write.namespace, write.id LIMIT $limit
