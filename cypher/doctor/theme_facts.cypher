// Themes and facts of which only one names the other.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
CYPHER 25
CALL () {
  MATCH (theme:Theme {namespace: $namespace})-[:HAS_FACT]->(fact:Fact)
  WHERE NOT theme:Placeholder AND NOT fact:Placeholder AND coalesce(fact.theme_id, '') <> theme.id
  RETURN 'theme ' + theme.id + ' lists fact ' + fact.id + ', which names '
         + CASE WHEN fact.theme_id IS NULL THEN 'no theme' ELSE 'theme ' + fact.theme_id END AS problem
  UNION ALL
  MATCH (fact:Fact {namespace: $namespace})
  WHERE fact.theme_id IS NOT NULL AND NOT fact:Placeholder
    AND NOT EXISTS { (:Theme {namespace: $namespace, id: fact.theme_id})-[:HAS_FACT]->(fact) }
  RETURN 'fact ' + fact.id + ' names theme ' + fact.theme_id + ', which '
         + CASE WHEN EXISTS { (theme:Theme {namespace: $namespace, id: fact.theme_id}) WHERE NOT theme:Placeholder }
                THEN 'does not list it' ELSE 'is not stored' END AS problem
}
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
