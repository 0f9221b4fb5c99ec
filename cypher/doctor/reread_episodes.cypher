// Episodes with their messages and what is kept beside both, a page at a time, to be read again.
//
// params:
//   $namespace : STRING
//   $after     : STRING    the last id of the page before; '': from the start
//   $limit     : INTEGER
// returns, in order:
//   record : MAP   the record's fields without the embedding, as in episode.get
//   copies : MAP   what is kept beside it and made from it
//   places : LIST<LIST<INTEGER>>   places of its messages, stored or not
//   around : LIST<MAP>   what is kept beside its messages and depends on their places, by place: {id, context, position, episode_id}
CYPHER 25
MATCH (n:Episode {namespace: $namespace}) WHERE n.id > $after AND NOT n:Placeholder
WITH n ORDER BY n.namespace, n.id LIMIT $limit
RETURN n {.id, .topic, .unread_message_ids, started_at: toString(n.started_at), ended_at: toString(n.ended_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(n.provenance_created_at),
  fact_ids: COLLECT { MATCH (n)-[x:HAS_FACT]->(f) UNWIND x.positions AS p RETURN f.id ORDER BY p },
  messages: COLLECT {
    MATCH (n)-[x:HAS_MESSAGE]->(m) WHERE NOT m:Placeholder
    UNWIND x.positions AS p
    RETURN m {.id, .role, .content, .conversation, .speaker, .metadata, timestamp: toString(m.timestamp),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(m.provenance_created_at)}
    ORDER BY p
  }} AS record,
  n {.conversation, .unread_count} AS copies,
  COLLECT { MATCH (n)-[x:HAS_MESSAGE]->() RETURN x.positions } AS places,
  COLLECT { MATCH (n)-[x:HAS_MESSAGE]->(m) WHERE NOT m:Placeholder
            RETURN m {.id, .context, .position, .episode_id} ORDER BY x.positions[0] } AS around
ORDER BY n.id
