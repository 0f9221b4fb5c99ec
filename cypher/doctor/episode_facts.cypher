// Episodes and facts of which only one lists the other.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: what is not stored yet cannot list anything, so placeholders are left out.
CYPHER 25
CALL () {
  MATCH (episode:Episode {namespace: $namespace})-[:HAS_FACT]->(fact:Fact)
  WHERE NOT episode:Placeholder AND NOT fact:Placeholder AND NOT EXISTS { (fact)-[:FROM_EPISODE]->(episode) }
  RETURN 'episode ' + episode.id + ' lists fact ' + fact.id + ', which does not name it' AS problem
  UNION ALL
  MATCH (fact:Fact {namespace: $namespace})-[:FROM_EPISODE]->(episode:Episode)
  WHERE NOT episode:Placeholder AND NOT fact:Placeholder AND NOT EXISTS { (episode)-[:HAS_FACT]->(fact) }
  RETURN 'fact ' + fact.id + ' names episode ' + episode.id + ', which does not list it' AS problem
}
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
