// Relationships that name a fact as what states them, when no fact is stored that points from their source to their target.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: the edge of a statement changes and goes with its fact. That both say the same is compared with the whole records.
CYPHER 25
MATCH (source:Entity {namespace: $namespace})-[edge:RELATES_TO]->(target) WHERE edge.fact_id IS NOT NULL
OPTIONAL MATCH (fact:Fact {namespace: $namespace, id: edge.fact_id}) WHERE NOT fact:Placeholder
WITH edge, CASE
    WHEN fact IS NULL THEN 'which is not stored'
    WHEN NOT EXISTS { (source)<-[:SUBJECT]-(fact)-[:OBJECT]->(target) } THEN 'which states something else'
  END AS difference
WHERE difference IS NOT NULL
WITH 'relationship ' + edge.id + ' is of fact ' + edge.fact_id + ', ' + difference AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
