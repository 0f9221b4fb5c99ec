// Everything that came from a source, closed ones too.
//
// params:
//   $namespace : STRING
//   $source    : MAP   source, agent_id, tool_name, run_id, node_id, conversation: each STRING or NULL, which says nothing
// returns, a row for each:
//   kind, id : STRING
//
// why: provenance has no index of its own, so all of the namespace is read, and nothing beyond it. A conversation is
// that of messages; episodes follow their messages.
CYPHER 25
CALL () {
  MATCH (n:Message {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($source.source IS NULL OR n.provenance_source = $source.source)
    AND ($source.agent_id IS NULL OR n.provenance_agent_id = $source.agent_id)
    AND ($source.tool_name IS NULL OR n.provenance_tool_name = $source.tool_name)
    AND ($source.run_id IS NULL OR n.provenance_run_id = $source.run_id)
    AND ($source.node_id IS NULL OR n.provenance_node_id = $source.node_id)
    AND ($source.conversation IS NULL OR n.conversation = $source.conversation)
  RETURN 'message' AS kind, n.id AS id
 UNION ALL
  MATCH (n:Episode {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($source.source IS NULL OR n.provenance_source = $source.source)
    AND ($source.agent_id IS NULL OR n.provenance_agent_id = $source.agent_id)
    AND ($source.tool_name IS NULL OR n.provenance_tool_name = $source.tool_name)
    AND ($source.run_id IS NULL OR n.provenance_run_id = $source.run_id)
    AND ($source.node_id IS NULL OR n.provenance_node_id = $source.node_id)
    AND $source.conversation IS NULL
  RETURN 'episode' AS kind, n.id AS id
 UNION ALL
  MATCH (n:Fact {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($source.source IS NULL OR n.provenance_source = $source.source)
    AND ($source.agent_id IS NULL OR n.provenance_agent_id = $source.agent_id)
    AND ($source.tool_name IS NULL OR n.provenance_tool_name = $source.tool_name)
    AND ($source.run_id IS NULL OR n.provenance_run_id = $source.run_id)
    AND ($source.node_id IS NULL OR n.provenance_node_id = $source.node_id)
    AND $source.conversation IS NULL
  RETURN 'fact' AS kind, n.id AS id
 UNION ALL
  MATCH (n:Theme {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($source.source IS NULL OR n.provenance_source = $source.source)
    AND ($source.agent_id IS NULL OR n.provenance_agent_id = $source.agent_id)
    AND ($source.tool_name IS NULL OR n.provenance_tool_name = $source.tool_name)
    AND ($source.run_id IS NULL OR n.provenance_run_id = $source.run_id)
    AND ($source.node_id IS NULL OR n.provenance_node_id = $source.node_id)
    AND $source.conversation IS NULL
  RETURN 'theme' AS kind, n.id AS id
 UNION ALL
  MATCH (n:Entity {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND ($source.source IS NULL OR n.provenance_source = $source.source)
    AND ($source.agent_id IS NULL OR n.provenance_agent_id = $source.agent_id)
    AND ($source.tool_name IS NULL OR n.provenance_tool_name = $source.tool_name)
    AND ($source.run_id IS NULL OR n.provenance_run_id = $source.run_id)
    AND ($source.node_id IS NULL OR n.provenance_node_id = $source.node_id)
    AND $source.conversation IS NULL
  RETURN 'entity' AS kind, n.id AS id
 UNION ALL
  MATCH (e:Entity {namespace: $namespace})-[n:RELATES_TO]->() WHERE e.id >= ''
    AND ($source.source IS NULL OR n.provenance_source = $source.source)
    AND ($source.agent_id IS NULL OR n.provenance_agent_id = $source.agent_id)
    AND ($source.tool_name IS NULL OR n.provenance_tool_name = $source.tool_name)
    AND ($source.run_id IS NULL OR n.provenance_run_id = $source.run_id)
    AND ($source.node_id IS NULL OR n.provenance_node_id = $source.node_id)
    AND $source.conversation IS NULL
  RETURN 'relationship' AS kind, n.id AS id
}
RETURN kind, id
ORDER BY kind, id
