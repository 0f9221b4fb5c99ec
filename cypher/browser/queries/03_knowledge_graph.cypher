// 03 The knowledge graph as it holds now: entities and what relates them
// returns: paths, the 200 heaviest relationships
MATCH path = (:Entity)-[relationship:RELATES_TO]->(:Entity)
WHERE relationship.live AND relationship.valid_from <= datetime() AND relationship.valid_until > datetime()
RETURN path
ORDER BY relationship.weight DESC, relationship.id
LIMIT 200
