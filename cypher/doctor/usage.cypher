// How often facts have been used.
//
// params:
//   $namespace : STRING
// returns (one row):
//   facts   : INTEGER         used at least once
//   uses    : INTEGER         in all
//   last_at : STRING | NULL   when the last one was used, ISO 8601
CYPHER 25
MATCH (fact:Fact {namespace: $namespace}) WHERE fact.access_count > 0
RETURN count(fact) AS facts, coalesce(sum(fact.access_count), 0) AS uses, toString(max(fact.last_accessed_at)) AS last_at
