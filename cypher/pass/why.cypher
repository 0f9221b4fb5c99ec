// What a stored record rests on.
//
// params:
//   $namespace : STRING
//   $record_id : STRING
//   $limit     : INTEGER   the most facts to list
// returns (no row or one):
//   kind       : STRING
//   record     : MAP         the record's fields without the embedding; an episode without its messages
//   facts      : LIST<MAP>   of an entity, a theme or a relationship the facts that speak of it, newest first
//   fact_count : INTEGER     how many there are
//   messages   : LIST<MAP>   what was said, oldest first
//   episodes   : LIST<MAP>   where it was read, oldest first, without messages
//   older      : LIST<MAP>   audit edges back from here, as in pass.history
//
// why: of several kinds with one id the first branch counts. `sources` are the facts whose messages and episodes are the
// evidence: the fact itself, or those listed.
CYPHER 25
CALL () {
  MATCH (n:Fact {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
  RETURN 1 AS place, 'fact' AS kind, n AS node, null AS record, [] AS facts, 0 AS fact_count, [n] AS sources
 UNION ALL
  MATCH (n:Entity {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
  CALL (n) {
    OPTIONAL MATCH (f:Fact)-[:MENTIONS|SUBJECT|OBJECT]->(n) WHERE f.live IS NOT NULL
    WITH DISTINCT f ORDER BY f.valid_from DESC, f.id
    RETURN collect(f)[..$limit] AS facts, count(f) AS fact_count
  }
  RETURN 2 AS place, 'entity' AS kind, n AS node, n {.id, .name, .entity_type, .attributes, .superseded_by,
      created_at: toString(n.created_at), updated_at: toString(n.updated_at), invalidated_at: toString(n.invalidated_at),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(n.provenance_created_at)} AS record, facts, fact_count, facts AS sources
 UNION ALL
  MATCH (n:Episode {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
  RETURN 3 AS place, 'episode' AS kind, n AS node, n {.id, .topic, started_at: toString(n.started_at), ended_at: toString(n.ended_at),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(n.provenance_created_at),
      fact_ids: COLLECT { MATCH (n)-[x:HAS_FACT]->(f) UNWIND x.positions AS p RETURN f.id ORDER BY p }, messages: []} AS record, [] AS facts, 0 AS fact_count, [] AS sources
 UNION ALL
  MATCH (n:Message {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
  RETURN 4 AS place, 'message' AS kind, n AS node, n {.id, .role, .content, .conversation, .speaker, .metadata, timestamp: toString(n.timestamp),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(n.provenance_created_at)} AS record, [] AS facts, 0 AS fact_count, [] AS sources
 UNION ALL
  MATCH (n:Theme {namespace: $namespace, id: $record_id}) WHERE n.live IS NOT NULL
  CALL (n) {
    OPTIONAL MATCH (n)-[:HAS_FACT]->(f:Fact) WHERE f.live IS NOT NULL
    WITH f ORDER BY f.valid_from DESC, f.id
    RETURN collect(f)[..$limit] AS facts, count(f) AS fact_count
  }
  RETURN 5 AS place, 'theme' AS kind, n AS node, n {.id, .label, .description,
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(n.provenance_created_at),
      fact_ids: COLLECT { MATCH (n)-[x:HAS_FACT]->(f) UNWIND x.positions AS p RETURN f.id ORDER BY p }} AS record, facts, fact_count, facts AS sources
 UNION ALL
  MATCH (source)-[r:RELATES_TO {namespace: $namespace, id: $record_id}]->(target)
  CALL (source, target) {
    OPTIONAL MATCH (f:Fact)-[:MENTIONS|SUBJECT|OBJECT]->(source)
    WHERE f.live IS NOT NULL AND EXISTS { (f)-[:MENTIONS|SUBJECT|OBJECT]->(target) }
    WITH DISTINCT f ORDER BY f.valid_from DESC, f.id
    RETURN collect(f)[..$limit] AS facts, count(f) AS fact_count
  }
  RETURN 6 AS place, 'relationship' AS kind, source AS node, r {.id, .source_id, .target_id, .relation_type, .fact_id, .weight, .attributes, .invalidated_by,
      valid_from: toString(r.valid_from), valid_until: toString(nullIf(r.valid_until, datetime({year: 10000, timezone: 'Z'}))),
      recorded_at: toString(r.recorded_at), closed_at: toString(r.closed_at),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(r.provenance_created_at)} AS record, facts, fact_count, facts AS sources
}
WITH place, kind, node, record, facts, fact_count, sources ORDER BY place LIMIT 1
CALL (kind, node, sources) {
  CALL (kind, node, sources) {
    UNWIND sources AS f
    MATCH (f)-[:CITES]->(m:Message) WHERE m.live IS NOT NULL
    RETURN m
   UNION
    UNWIND sources AS f
    WITH f WHERE NOT EXISTS { (f)-[:CITES]->(:Message) }
    MATCH (f)-[:FROM_EPISODE]->(:Episode)-[:HAS_MESSAGE]->(m:Message) WHERE m.live IS NOT NULL
    RETURN m
   UNION
    WITH kind, node WHERE kind = 'episode'
    MATCH (node)-[:HAS_MESSAGE]->(m:Message) WHERE m.live IS NOT NULL
    RETURN m
   UNION
    WITH kind, node WHERE kind = 'message'
    RETURN node AS m
  }
  WITH m ORDER BY m.timestamp, m.id
  RETURN collect(m {.id, .role, .content, .conversation, .speaker, .metadata, timestamp: toString(m.timestamp),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(m.provenance_created_at)}) AS messages
}
CALL (kind, node, sources) {
  CALL (kind, node, sources) {
    UNWIND sources AS f
    MATCH (f)-[:FROM_EPISODE]->(e:Episode) WHERE e.live IS NOT NULL
    RETURN e
   UNION
    WITH kind, node WHERE kind = 'episode'
    RETURN node AS e
   UNION
    WITH kind, node WHERE kind = 'message'
    MATCH (e:Episode)-[:HAS_MESSAGE]->(node)
    RETURN e
  }
  WITH e ORDER BY e.started_at, e.id
  RETURN collect(e {.id, .topic, started_at: toString(e.started_at), ended_at: toString(e.ended_at),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(e.provenance_created_at),
      fact_ids: COLLECT { MATCH (e)-[x:HAS_FACT]->(f) UNWIND x.positions AS p RETURN f.id ORDER BY p }, messages: []}) AS episodes
}
CALL (kind, node) {
  WITH kind, node WHERE kind IN ['fact', 'entity']
  MATCH (node)-[:SUPERSEDES*0..]->(at)
  WITH DISTINCT at
  MATCH (at)-[s:SUPERSEDES]->(older)
  WITH s, at, older ORDER BY s.at, at.id, older.id, s.pass_id
  RETURN collect({record_kind: CASE WHEN at:Fact THEN 'fact' ELSE 'entity' END, newer_id: at.id, older_id: older.id,
    at: toString(s.at), reason: s.reason, pass_id: s.pass_id, undone_by: s.undone_by}) AS older
}
CALL (kind, node) {
  WITH kind, node WHERE kind = 'fact'
  RETURN node {.id, .content, .statement, .theme_id, .invalidated_by, .access_count,
      valid_from: toString(node.valid_from), valid_until: toString(nullIf(node.valid_until, datetime({year: 10000, timezone: 'Z'}))),
      recorded_at: toString(node.recorded_at), closed_at: toString(node.closed_at), last_accessed_at: toString(node.last_accessed_at),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(node.provenance_created_at),
      entity_ids: COLLECT { MATCH (node)-[x:MENTIONS]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
      source_episode_ids: COLLECT { MATCH (node)-[x:FROM_EPISODE]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
      source_message_ids: COLLECT { MATCH (node)-[x:CITES]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
      tags: COLLECT { MATCH (node)-[x:TAGGED]->(n) UNWIND x.positions AS p RETURN n.name ORDER BY p }} AS itself
 UNION ALL
  WITH kind WHERE kind <> 'fact'
  RETURN null AS itself
}
CALL (facts) {
  UNWIND range(0, size(facts) - 1) AS at
  WITH at, facts[at] AS f ORDER BY at
  RETURN collect(f {.id, .content, .statement, .theme_id, .invalidated_by, .access_count,
      valid_from: toString(f.valid_from), valid_until: toString(nullIf(f.valid_until, datetime({year: 10000, timezone: 'Z'}))),
      recorded_at: toString(f.recorded_at), closed_at: toString(f.closed_at), last_accessed_at: toString(f.last_accessed_at),
      .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
      provenance_created_at: toString(f.provenance_created_at),
      entity_ids: COLLECT { MATCH (f)-[x:MENTIONS]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
      source_episode_ids: COLLECT { MATCH (f)-[x:FROM_EPISODE]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
      source_message_ids: COLLECT { MATCH (f)-[x:CITES]->(n) UNWIND x.positions AS p RETURN n.id ORDER BY p },
      tags: COLLECT { MATCH (f)-[x:TAGGED]->(n) UNWIND x.positions AS p RETURN n.name ORDER BY p }}) AS listed
}
RETURN kind, coalesce(record, itself) AS record, listed AS facts, fact_count, messages, episodes, older
