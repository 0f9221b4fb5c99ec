// Keys, listing orders and texts of the records. Every key begins with the namespace.
CYPHER 25 CREATE CONSTRAINT namespace_name IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT message_id IF NOT EXISTS FOR (n:Message) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT episode_id IF NOT EXISTS FOR (n:Episode) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT theme_id IF NOT EXISTS FOR (n:Theme) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT entity_name_key IF NOT EXISTS FOR (n:EntityName) REQUIRE (n.namespace, n.key) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT tag_name IF NOT EXISTS FOR (n:Tag) REQUIRE (n.namespace, n.name) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT write_id IF NOT EXISTS FOR (n:Write) REQUIRE (n.namespace, n.id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT relates_to_id IF NOT EXISTS FOR ()-[r:RELATES_TO]-() REQUIRE (r.namespace, r.id) IS UNIQUE;
CYPHER 25 CREATE INDEX relates_to_out IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.namespace, r.source_id, r.target_id);
CYPHER 25 CREATE INDEX relates_to_in IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.namespace, r.target_id, r.source_id);
CYPHER 25 CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.namespace, n.name_key);
CYPHER 25 CREATE INDEX entity_type IF NOT EXISTS FOR (n:Entity) ON (n.namespace, n.entity_type, n.id);
CYPHER 25 CREATE INDEX fact_from IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.valid_from);
CYPHER 25 CREATE INDEX fact_until IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.valid_until);
CYPHER 25 CREATE INDEX fact_theme IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.theme_id);
CYPHER 25 CREATE INDEX episode_start IF NOT EXISTS FOR (n:Episode) ON (n.namespace, n.started_at);
CYPHER 25 CREATE INDEX episode_conversation IF NOT EXISTS FOR (n:Episode) ON (n.namespace, n.conversation, n.ended_at);
CYPHER 25 CREATE INDEX theme_label IF NOT EXISTS FOR (n:Theme) ON (n.namespace, n.label_key);
CYPHER 25 CREATE FULLTEXT INDEX message_text IF NOT EXISTS FOR (n:Message) ON EACH [n.namespace_token, n.content, n.context, n.grams]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
CYPHER 25 CREATE FULLTEXT INDEX fact_text IF NOT EXISTS FOR (n:Fact) ON EACH [n.namespace_token, n.content, n.grams]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
