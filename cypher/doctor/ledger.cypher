// Runs, verdicts and servings that have no place of their own, or one that the ledger has not given; and verdicts that
// differ from their pass.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: places order the evidence; one that is given twice would make two runs one.
CYPHER 25
CALL () {
  MATCH (n:Run {namespace: $namespace})
  RETURN 'runs' AS kind, count(*) AS stored, count(DISTINCT n.sequence) AS places, coalesce(max(n.sequence), 0) AS highest
  UNION ALL
  MATCH (n:GatePass {namespace: $namespace})
  RETURN 'passes' AS kind, count(*) AS stored, count(DISTINCT n.sequence) AS places, coalesce(max(n.sequence), 0) AS highest
  UNION ALL
  MATCH (n:Serving {namespace: $namespace})
  RETURN 'servings' AS kind, count(*) AS stored, count(DISTINCT n.sequence) AS places, coalesce(max(n.sequence), 0) AS highest
}
OPTIONAL MATCH (ledger:Ledger {namespace: $namespace})
WITH kind, stored, places, highest, coalesce(ledger[kind], 0) AS given
WITH collect(CASE
    WHEN stored <> places THEN toString(stored) + ' ' + kind + ' have ' + toString(places) + ' places'
    WHEN highest > given THEN 'of ' + kind + ' the last place is ' + toString(highest) + ', and ' + toString(given) + ' were given'
  END) AS counted
CALL (counted) {
  UNWIND counted AS problem
  RETURN problem
  UNION ALL
  MATCH (pass:GatePass {namespace: $namespace})-[edge:DECIDED]->(fact)
  WHERE coalesce(edge.sequence, 0) <> coalesce(pass.sequence, -1) OR edge.decided_at IS NULL OR edge.decided_at <> pass.decided_at
  RETURN 'the verdict of gate pass ' + pass.id + ' on fact ' + fact.id + ' has not its place and instant' AS problem
  UNION ALL
  MATCH (pass:GatePass {namespace: $namespace})
  WHERE COUNT { (pass)-[:DECIDED]->() } <> COUNT { MATCH (pass)-[edge:DECIDED]->() RETURN DISTINCT edge.position }
  RETURN 'verdicts of gate pass ' + pass.id + ' share a place' AS problem
  UNION ALL
  MATCH (serving:Serving {namespace: $namespace})
  WHERE size(coalesce(serving.fact_ids, [])) <> size(coalesce(serving.served, []))
     OR size(coalesce(serving.fact_ids, [])) <> size(coalesce(serving.chances, []))
  RETURN 'what was served to run ' + serving.id + ' is listed by halves' AS problem
}
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
