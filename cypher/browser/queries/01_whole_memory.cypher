// 01 The whole memory: themes, facts, episodes, messages and what they mention
// returns: paths, at most 150 facts, those with a theme first. Placeholders are left out.
MATCH (fact:Fact)
WHERE NOT fact:Placeholder
WITH fact
ORDER BY fact.theme_id IS NULL, fact.valid_from DESC, fact.id
LIMIT 150
OPTIONAL MATCH theme = (:Theme)-[:HAS_FACT]->(fact)
OPTIONAL MATCH source = (fact)<-[:HAS_FACT]-(:Episode)-[:HAS_MESSAGE]->(message:Message)<-[:CITES]-(fact)
OPTIONAL MATCH mention = (fact)-[:MENTIONS]->(:Entity)
RETURN fact, theme, source, mention
