// What passes of the gate have ruled, the latest first.
//
// params:
//   $namespace : STRING
//   $fact_id   : STRING | NULL           verdicts on this fact
//   $verdict   : STRING | NULL           of this kind
//   $reason    : STRING | NULL           for this reason
//   $since     : ZONED DATETIME | NULL   from this instant on, included
//   $until     : ZONED DATETIME | NULL   up to this instant, excluded
//   $limit     : INTEGER
// returns:
//   pass_id, fact_id : STRING
//   decided_at       : STRING
//   decision         : MAP   the properties of the verdict, `evidence_*` flat
//
// why: one branch runs, the one that starts from the fewest verdicts; held ones outnumber the others by far. It takes
// its order from its index, so that it reads the latest passes only; what lies in one pass is sorted.
CYPHER 25
CALL () {
  WITH 1 AS go WHERE $fact_id IS NOT NULL
  MATCH (:Fact {namespace: $namespace, id: $fact_id})<-[edge:DECIDED]-()
  WHERE ($verdict IS NULL OR edge.verdict = $verdict) AND ($reason IS NULL OR edge.reason = $reason)
    AND edge.decided_at >= coalesce($since, datetime({year: 0, timezone: 'Z'}))
    AND edge.decided_at < coalesce($until, datetime({year: 10000, timezone: 'Z'}))
  RETURN edge ORDER BY edge.decided_at DESC, edge.sequence DESC, edge.position LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $fact_id IS NULL AND $reason IS NOT NULL
  MATCH ()-[edge:DECIDED]->() WHERE edge.namespace = $namespace AND edge.reason = $reason
    AND edge.decided_at >= coalesce($since, datetime({year: 0, timezone: 'Z'}))
    AND edge.decided_at < coalesce($until, datetime({year: 10000, timezone: 'Z'}))
    AND ($verdict IS NULL OR edge.verdict = $verdict)
  RETURN edge ORDER BY edge.namespace DESC, edge.reason DESC, edge.decided_at DESC, edge.sequence DESC, edge.position LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $fact_id IS NULL AND $reason IS NULL AND $verdict IS NOT NULL
  MATCH ()-[edge:DECIDED]->() WHERE edge.namespace = $namespace AND edge.verdict = $verdict
    AND edge.decided_at >= coalesce($since, datetime({year: 0, timezone: 'Z'}))
    AND edge.decided_at < coalesce($until, datetime({year: 10000, timezone: 'Z'}))
  RETURN edge ORDER BY edge.namespace DESC, edge.verdict DESC, edge.decided_at DESC, edge.sequence DESC, edge.position LIMIT $limit
 UNION ALL
  WITH 1 AS go WHERE $fact_id IS NULL AND $reason IS NULL AND $verdict IS NULL
  MATCH ()-[edge:DECIDED]->() WHERE edge.namespace = $namespace
    AND edge.decided_at >= coalesce($since, datetime({year: 0, timezone: 'Z'}))
    AND edge.decided_at < coalesce($until, datetime({year: 10000, timezone: 'Z'}))
  RETURN edge ORDER BY edge.namespace DESC, edge.decided_at DESC, edge.sequence DESC, edge.position LIMIT $limit
}
RETURN startNode(edge).id AS pass_id, endNode(edge).id AS fact_id, toString(edge.decided_at) AS decided_at,
       edge {.*, decided_at: null, namespace: null} AS decision
ORDER BY edge.decided_at DESC, edge.sequence DESC, edge.position
