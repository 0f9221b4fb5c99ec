// 06 Where facts come from: the episode and the very messages each was read from
// returns: paths, of the 25 facts learned last
MATCH (fact:Fact)
WHERE NOT fact:Placeholder
WITH fact
ORDER BY fact.recorded_at DESC, fact.id
LIMIT 25
MATCH path = (fact)-[:FROM_EPISODE|CITES]->()
RETURN path
