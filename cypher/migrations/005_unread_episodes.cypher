// Episodes with messages from which nothing could be read, or only by a simpler extractor; absent on all others.
CYPHER 25 CREATE INDEX episode_unread IF NOT EXISTS FOR (n:Episode) ON (n.namespace, n.unread_count);
