// Themes that have a vector and none of the space that the namespace moves to.
//
// params:
//   $namespace : STRING
//   $new       : STRING       `embedding_<n>` of that space
//   $after     : LIST<ANY>    [id] of the last theme of the page before
//   $limit     : INTEGER
// returns, in order of the id:
//   key    : LIST<STRING>
//   text   : STRING           label and description
//   waits  : BOOLEAN          whether a fact has a vector that was not made anew yet
//   vector : VECTOR           the one that it has
//   facts  : LIST<STRING>     ids of its facts that have a vector of that space, in their order, each once
CYPHER 25
MATCH (n:Theme {namespace: $namespace})
WHERE n.id > $after[0] AND n.embedding_1 IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN [n.id] AS key, n.label + CASE WHEN n.description = '' THEN '' ELSE ': ' + n.description END AS text,
       EXISTS { MATCH (n)-[:HAS_FACT]->(f) WHERE f.embedding_1 IS NOT NULL AND f[$new] IS NULL AND f['no_' + $new] IS NULL } AS waits,
       vector(n.embedding_1, 384, FLOAT32) AS vector,
       COLLECT { MATCH (n)-[x:HAS_FACT]->(f) WHERE f[$new] IS NOT NULL RETURN f.id ORDER BY x.positions[0], f.id } AS facts
ORDER BY n.id
