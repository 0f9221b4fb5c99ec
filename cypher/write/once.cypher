// An idempotency key: the first statement of a writing transaction with $result = null, and its last with the receipt.
//
// params:
//   $namespace : STRING
//   $key       : STRING
//   $now       : ZONED DATETIME    UTC
//   $result    : STRING | NULL     the receipt as JSON
// returns (one row):
//   result : STRING | NULL   first call: NULL means the key is ours, go on; else what the first writer wrote: write
//                            nothing and answer with it
//
// why: MERGE on the unique key makes a second writer wait for the first one's commit and then find its node; SET locks
// the node in every case. A killed writer leaves nothing.
CYPHER 25
MERGE (write:Write {namespace: $namespace, id: $key})
ON CREATE SET write.created_at = $now
SET write.result = coalesce(write.result, $result)
RETURN write.result AS result
