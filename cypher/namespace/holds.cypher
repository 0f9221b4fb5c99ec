// Whether a namespace holds messages and facts.
//
// params:
//   $namespace : STRING
// returns (one row):
//   messages, facts : BOOLEAN   whether there are any
//
// why: the condition on the second part of the key makes it a seek in the index on both.
CYPHER 25
RETURN EXISTS { MATCH (m:Message {namespace: $namespace}) WHERE m.id >= '' AND m.live } AS messages,
       EXISTS { MATCH (f:Fact {namespace: $namespace}) WHERE f.id >= '' AND f.live IS NOT NULL } AS facts
