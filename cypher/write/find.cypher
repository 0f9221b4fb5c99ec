// The receipt that was kept under an idempotency key.
//
// params:
//   $namespace : STRING
//   $key       : STRING
// returns, one row or none:
//   result : STRING   the receipt as JSON
CYPHER 25
MATCH (write:Write {namespace: $namespace, id: $key}) WHERE write.result IS NOT NULL
RETURN write.result AS result
