// For each group of entities how many facts mention all of them or state something of them, closed ones too.
//
// params:
//   $namespace : STRING
//   $rows      : LIST<MAP>   {place: INTEGER, first: STRING, others: LIST<STRING>}
// returns, a row for each group:
//   place, facts : INTEGER
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (:Entity {namespace: $namespace, id: row.first})<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)
WHERE f.live IS NOT NULL AND all(id IN row.others WHERE EXISTS { (f)-[:MENTIONS|SUBJECT|OBJECT]->(:Entity {namespace: $namespace, id: id}) })
RETURN row.place AS place, count(DISTINCT f) AS facts
ORDER BY place
