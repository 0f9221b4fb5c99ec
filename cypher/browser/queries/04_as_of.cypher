// 04 The knowledge graph as it held at an instant: change the date in the first line
// returns: paths, the 200 heaviest relationships whose window held the instant, closed ones included
WITH datetime('2024-06-01T00:00:00Z') AS instant
MATCH path = (:Entity)-[relationship:RELATES_TO]->(:Entity)
WHERE relationship.valid_from <= instant AND relationship.valid_until > instant
RETURN path
ORDER BY relationship.weight DESC, relationship.id
LIMIT 200
