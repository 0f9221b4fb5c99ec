// Vector indexes of one embedding space; written for space 1 of 384 dimensions, other numbers are put in when loaded.
//
// why: without quantization, which costs 40 % of the recall; filters as properties of the index, since a filter behind
// the search loses what the search has already cut off.
// Searches filter by `standing` and `timestamp`, which are quick (see fact.put); `live`, `quarantined` and `day` are there for
// queries written by hand.
CYPHER 25 CREATE VECTOR INDEX message_embedding_1 IF NOT EXISTS FOR (n:Message) ON n.embedding_1
  WITH [n.namespace, n.live, n.day, n.timestamp]
  OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}};
CYPHER 25 CREATE VECTOR INDEX episode_embedding_1 IF NOT EXISTS FOR (n:Episode) ON n.embedding_1
  WITH [n.namespace, n.live]
  OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}};
CYPHER 25 CREATE VECTOR INDEX fact_embedding_1 IF NOT EXISTS FOR (n:Fact) ON n.embedding_1
  WITH [n.namespace, n.live, n.quarantined, n.theme_id, n.valid_from, n.valid_until, n.standing]
  OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}};
CYPHER 25 CREATE VECTOR INDEX theme_embedding_1 IF NOT EXISTS FOR (n:Theme) ON n.embedding_1
  WITH [n.namespace, n.live]
  OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}};
CYPHER 25 CREATE VECTOR INDEX entity_embedding_1 IF NOT EXISTS FOR (n:Entity) ON n.embedding_1
  WITH [n.namespace, n.live]
  OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}};
CYPHER 25 CREATE VECTOR INDEX tier_item_embedding_1 IF NOT EXISTS FOR (n:TierItem) ON n.embedding_1
  WITH [n.namespace, n.tier, n.scope]
  OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}};
