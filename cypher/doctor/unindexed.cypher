// Records, out of a sample by chance, that their vector index does not find by their own vectors.
//
// params:
//   $namespace : STRING
//   $sample    : INTEGER        about how many of each kind to try
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: an index cannot be listed. A record that is not found may have ten others with its very vector before it, and the
// search is approximate: one in thousands is passed by when ten are asked for, so who is missing is looked for among a thousand.
CYPHER 25
CALL () {
  WITH COUNT { MATCH (n:Message {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL } AS number
  MATCH (n:Message {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL AND rand() * number < $sample
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 10) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 10 OR lowest < 0.99999)
  WITH n
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 1000) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 1000 OR lowest < 0.99999)
  RETURN 'message ' + n.id AS record
  UNION ALL
  WITH COUNT { MATCH (n:Episode {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL } AS number
  MATCH (n:Episode {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL AND rand() * number < $sample
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Episode) SEARCH m IN (VECTOR INDEX episode_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 10) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 10 OR lowest < 0.99999)
  WITH n
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Episode) SEARCH m IN (VECTOR INDEX episode_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 1000) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 1000 OR lowest < 0.99999)
  RETURN 'episode ' + n.id AS record
  UNION ALL
  WITH COUNT { MATCH (n:Fact {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL } AS number
  MATCH (n:Fact {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL AND rand() * number < $sample
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Fact) SEARCH m IN (VECTOR INDEX fact_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 10) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 10 OR lowest < 0.99999)
  WITH n
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Fact) SEARCH m IN (VECTOR INDEX fact_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 1000) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 1000 OR lowest < 0.99999)
  RETURN 'fact ' + n.id AS record
  UNION ALL
  WITH COUNT { MATCH (n:Theme {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL } AS number
  MATCH (n:Theme {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL AND rand() * number < $sample
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Theme) SEARCH m IN (VECTOR INDEX theme_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 10) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 10 OR lowest < 0.99999)
  WITH n
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Theme) SEARCH m IN (VECTOR INDEX theme_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 1000) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 1000 OR lowest < 0.99999)
  RETURN 'theme ' + n.id AS record
  UNION ALL
  WITH COUNT { MATCH (n:Entity {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL } AS number
  MATCH (n:Entity {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL AND rand() * number < $sample
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Entity) SEARCH m IN (VECTOR INDEX entity_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 10) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 10 OR lowest < 0.99999)
  WITH n
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:Entity) SEARCH m IN (VECTOR INDEX entity_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 1000) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 1000 OR lowest < 0.99999)
  RETURN 'entity ' + n.id AS record
  UNION ALL
  WITH COUNT { MATCH (n:TierItem {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL } AS number
  MATCH (n:TierItem {namespace: $namespace}) WHERE n.embedding_1 IS NOT NULL AND rand() * number < $sample
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:TierItem) SEARCH m IN (VECTOR INDEX tier_item_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 10) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 10 OR lowest < 0.99999)
  WITH n
  CALL (n) {
    WITH n, vector(n.embedding_1, 384, FLOAT32) AS vector
    MATCH (m:TierItem) SEARCH m IN (VECTOR INDEX tier_item_embedding_1 FOR vector WHERE m.namespace = $namespace LIMIT 1000) SCORE AS score
    RETURN collect(m) AS near, min(score) AS lowest
  }
  WITH n, near, lowest WHERE NOT n IN near AND (size(near) < 1000 OR lowest < 0.99999)
  RETURN n.tier + ' item ' + n.id AS record
}
WITH record + ' is not found by its own vector' AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
