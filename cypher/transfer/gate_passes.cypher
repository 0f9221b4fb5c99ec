// Passes of the gate in their order, a page at a time.
//
// params:
//   $namespace : STRING
//   $after     : INTEGER   place of the last pass of the page before; 0: from the start
//   $limit     : INTEGER
// returns:
//   place : INTEGER   in order
//   id    : STRING
CYPHER 25
MATCH (pass:GatePass {namespace: $namespace}) WHERE pass.id >= '' AND pass.sequence > $after
RETURN pass.sequence AS place, pass.id AS id
ORDER BY place LIMIT $limit
