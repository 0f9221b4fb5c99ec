// One pass of the gate.
//
// params:
//   $namespace : STRING
//   $pass_id   : STRING
// returns, one row or none:
//   decided_at : STRING
//   policy     : STRING      as JSON
//   decisions  : LIST<MAP>   the properties of each verdict and its `fact_id`, in the order of the candidates
CYPHER 25
MATCH (pass:GatePass {namespace: $namespace, id: $pass_id})
RETURN toString(pass.decided_at) AS decided_at, pass.policy AS policy,
       COLLECT { MATCH (pass)-[edge:DECIDED]->(fact:Fact)
                 RETURN edge {.*, decided_at: null, namespace: null, fact_id: fact.id} ORDER BY edge.position } AS decisions
