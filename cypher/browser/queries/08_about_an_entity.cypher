// 08 All about one entity: change the name in the first line
// returns: paths to its neighbours and to the 50 latest facts that mention it; nothing when no entity has the name
WITH 'Alice' AS name
MATCH (entity:Entity)
WHERE toLower(entity.name) = toLower(name) AND NOT entity:Placeholder
OPTIONAL MATCH neighbour = (entity)-[:RELATES_TO]-(:Entity)
WITH entity, collect(neighbour)[..100] AS neighbours
CALL (entity) {
  OPTIONAL MATCH mention = (entity)<-[:MENTIONS]-(fact:Fact)
  WITH mention, fact
  ORDER BY fact.valid_from DESC, fact.id
  LIMIT 50
  RETURN collect(mention) AS mentions
}
RETURN entity, neighbours, mentions
