// Whether a namespace holds messages and facts.
//
// params:
//   $namespace : STRING
// returns (one row):
//   messages, facts : INTEGER   0 or 1: there are none, or some
CYPHER 25
CALL () { MATCH (m:Message {namespace: $namespace}) WHERE m.live WITH m LIMIT 1 RETURN count(m) AS messages }
CALL () { MATCH (f:Fact {namespace: $namespace}) WHERE f.live IS NOT NULL WITH f LIMIT 1 RETURN count(f) AS facts }
RETURN messages, facts
