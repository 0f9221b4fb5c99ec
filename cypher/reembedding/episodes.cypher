// Episodes that have a vector and none of the space that the namespace moves to, with that space's vectors of their messages.
//
// params:
//   $namespace : STRING
//   $new       : STRING        `embedding_<n>` of that space
//   $dimensions : INTEGER      length of its vectors
//   $after     : LIST<ANY>     [id] of the last episode of the page before
//   $limit     : INTEGER
// returns, in order of the id:
//   key     : LIST<STRING>
//   text    : STRING           the topic
//   waits   : BOOLEAN          whether a message has a vector that was not made anew yet
//   vectors : LIST<VECTOR>     of its messages, in their order
CYPHER 25
MATCH (n:Episode {namespace: $namespace})
WHERE n.id > $after[0] AND n.embedding_1 IS NOT NULL AND n[$new] IS NULL AND n['no_' + $new] IS NULL
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN [n.id] AS key, n.topic AS text,
       EXISTS { MATCH (n)-[:HAS_MESSAGE]->(m) WHERE m.embedding_1 IS NOT NULL AND m[$new] IS NULL AND m['no_' + $new] IS NULL } AS waits,
       COLLECT { MATCH (n)-[x:HAS_MESSAGE]->(m) WHERE m[$new] IS NOT NULL UNWIND x.positions AS p
                 RETURN vector(m[$new], $dimensions, FLOAT32) ORDER BY p } AS vectors
ORDER BY n.id
