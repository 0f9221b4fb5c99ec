// Entities that two or more facts mention which are neither closed nor quarantined, in the order of their first mention.
//
// params:
//   $namespace : STRING
// returns:
//   id    : STRING
//   facts : INTEGER   how many mention it
//
// why: facts are listed newest first, then by id; the first mention of an entity is the least of its places in that
// list, which needs no sorted list of all mentions.
CYPHER 25
MATCH (f:Fact {namespace: $namespace})
WHERE f.valid_from IS NOT NULL AND f.live AND NOT f.quarantined
MATCH (f)-[x:MENTIONS]->(e:Entity)
WITH e, count(*) AS facts,
     min([-(f.valid_from.epochMillis * 1000 + f.valid_from.microsecond % 1000), f.id, x.positions[0]]) AS first
WHERE facts > 1
RETURN e.id AS id, facts
ORDER BY first
