// All relationships at an entity, by id; a self-loop once.
//
// params:
//   $namespace           : STRING
//   $entity_id           : STRING
//   $outgoing, $incoming : BOOLEAN         which directions
//   $relation_type       : STRING | NULL   only this type
//   $include_invalidated : BOOLEAN         closed ones too
// returns:
//   relationship : MAP   the record's fields, as in relationship.get
CYPHER 25
MATCH (e:Entity {namespace: $namespace, id: $entity_id})
CALL (e) {
  WITH e WHERE $outgoing
  MATCH (e)-[r:RELATES_TO]->() RETURN r
 UNION
  WITH e WHERE $incoming
  MATCH (e)<-[r:RELATES_TO]-() RETURN r
}
WITH r WHERE (r.live OR $include_invalidated) AND ($relation_type IS NULL OR r.relation_type = $relation_type)
RETURN r {.id, .source_id, .target_id, .relation_type, .fact_id, .weight, .attributes, .invalidated_by,
  valid_from: toString(r.valid_from), valid_until: toString(nullIf(r.valid_until, datetime({year: 10000, timezone: 'Z'}))),
  recorded_at: toString(r.recorded_at), closed_at: toString(r.closed_at),
  .provenance_source, .provenance_agent_id, .provenance_tool_name, .provenance_run_id, .provenance_node_id, .provenance_confidence,
  provenance_created_at: toString(r.provenance_created_at)} AS relationship
ORDER BY r.id
