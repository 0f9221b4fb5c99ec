// 07 Themes and their facts
// returns: paths, the 20 largest themes with at most 15 facts each
MATCH (theme:Theme)
WHERE NOT theme:Placeholder
WITH theme, COUNT { (theme)-[:HAS_FACT]->() } AS facts
ORDER BY facts DESC, theme.id
LIMIT 20
CALL (theme) {
  MATCH path = (theme)-[:HAS_FACT]->(fact:Fact)
  RETURN path
  ORDER BY fact.valid_from DESC, fact.id
  LIMIT 15
}
RETURN path
