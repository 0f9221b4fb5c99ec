// For each of many facts those near to it that mention an entity that it mentions, best first, ties by latest start, id.
//
// params:
//   $namespace : STRING
//   $ids       : LIST<STRING>   whose neighbours are wanted; each once
//   $least     : FLOAT          the least cosine, included
//   $few       : INTEGER        how many neighbours are looked for at first, the fact itself among them
//   $limit     : INTEGER        the most, likewise, before those that share no entity are left out
//   $crowd     : INTEGER        up to so many mentions of its entities a fact is compared with each before it is searched
// returns, a row for each fact that has such a neighbour:
//   fact : [STRING, STRING, INTEGER, INTEGER | NULL, STRING | NULL]   id, content, start and end in microseconds since
//          1970 (NULL: open), digest of the subject and predicate of its statement
//   near : LIST<LIST>   likewise; neither closed nor quarantined
//
// why: the fact's own vector is the question, so none travels. Most facts are near to none that shares an entity, and to
// see that takes few comparisons unless the entity is a hub; only the others are searched, with a little to spare for
// rounding. A search costs what it may return: only where the last of the few is near as well is the full number looked
// for. What was found is held against the entities from its own side, never from that of a hub.
CYPHER 25
OPTIONAL MATCH (whose:Namespace {name: $namespace})
WITH whose WHERE whose.left_embedding_1 IS NULL   // no row for who still searches in a space that was left
UNWIND $ids AS id
MATCH (fact:Fact {namespace: $namespace, id: id}) WHERE fact.embedding_1 IS NOT NULL
WITH fact, vector(fact.embedding_1, 384, FLOAT32) AS embedding,
     COLLECT { MATCH (fact)-[:MENTIONS]->(e:Entity) RETURN [e, COUNT { (e)<-[:MENTIONS]-() }] } AS degrees
WITH fact, embedding, [pair IN degrees | pair[0]] AS mentioned, reduce(n = 0, pair IN degrees | n + pair[1]) AS mentions
WHERE mentions > size(mentioned) AND (mentions > $crowd OR EXISTS {
  UNWIND mentioned AS e
  MATCH (e)<-[:MENTIONS]-(f:Fact)
  WHERE f <> fact AND f.live AND NOT f.quarantined AND f.embedding_1 IS NOT NULL
    AND 1 - vector_distance(vector(f.embedding_1, 384, FLOAT32), embedding, COSINE) >= $least - 0.0001
})
CALL (embedding) {
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR embedding
    WHERE f.namespace = $namespace AND f.standing >= 0 AND f.standing <= 0 LIMIT $few) SCORE AS similarity
  RETURN count(f) AS found, min(similarity) AS lowest,
         collect(CASE WHEN 2 * similarity - 1 >= $least THEN [f, 2 * similarity - 1] END) AS first
}
CALL (fact, embedding, found, lowest, first) {
  WITH fact, first WHERE found < $few OR $few >= $limit OR 2 * lowest - 1 < $least
  UNWIND first AS hit
  WITH fact, hit[0] AS f, hit[1] AS score WHERE f <> fact
  RETURN f, score
 UNION ALL
  WITH fact, embedding WHERE found = $few AND $few < $limit AND 2 * lowest - 1 >= $least
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR embedding
    WHERE f.namespace = $namespace AND f.standing >= 0 AND f.standing <= 0 LIMIT $limit) SCORE AS similarity
  WITH fact, f, 2 * similarity - 1 AS score WHERE score >= $least AND f <> fact
  RETURN f, score
}
WITH fact, f, score WHERE EXISTS { MATCH (f)-[:MENTIONS]->(e:Entity) WHERE e IN mentioned }
WITH fact, f, score ORDER BY score DESC, f.valid_from DESC, f.id
RETURN [fact.id, fact.content, fact.valid_from.epochMillis * 1000 + fact.valid_from.microsecond % 1000,
        CASE WHEN fact.valid_until < datetime({year: 10000, timezone: 'Z'})
             THEN fact.valid_until.epochMillis * 1000 + fact.valid_until.microsecond % 1000 END, fact.statement_key] AS fact,
       collect([f.id, f.content, f.valid_from.epochMillis * 1000 + f.valid_from.microsecond % 1000,
        CASE WHEN f.valid_until < datetime({year: 10000, timezone: 'Z'})
             THEN f.valid_until.epochMillis * 1000 + f.valid_until.microsecond % 1000 END, f.statement_key]) AS near
