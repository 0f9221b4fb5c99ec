// Items of the durable memory tiers, one a tier, scope and id; an item without a scope has the empty one.
CYPHER 25 CREATE CONSTRAINT tier_item IF NOT EXISTS FOR (n:TierItem) REQUIRE (n.namespace, n.tier, n.scope, n.id) IS UNIQUE;
