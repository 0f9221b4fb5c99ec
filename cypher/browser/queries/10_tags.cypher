// 10 Facts by tag
// returns: paths, the 150 latest
MATCH path = (fact:Fact)-[:TAGGED]->(:Tag)
RETURN path
ORDER BY fact.valid_from DESC, fact.id
LIMIT 150
