// Edges that leave the namespace, or do not say that they belong to it.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: reads follow edges without looking at the namespace again; this is what that relies on.
CYPHER 25
MATCH (n:Message|Episode|Fact|Theme|Entity {namespace: $namespace})-[edge]-(other)
WHERE coalesce(edge.namespace, '') <> $namespace OR coalesce(other.namespace, '') <> $namespace
WITH DISTINCT edge, startNode(edge) AS source, endNode(edge) AS target
WITH type(edge) + ' from ' + coalesce(source.id, source.name, '?') + ' (' + coalesce(source.namespace, 'no namespace') + ') to '
     + coalesce(target.id, target.name, '?') + ' (' + coalesce(target.namespace, 'no namespace') + ') is marked '
     + coalesce(edge.namespace, 'with no namespace') AS problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
