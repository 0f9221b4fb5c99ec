// Edges that join what edges of their kind do not join, and those that are there twice.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: of each record only its own edges are grouped, so that what is held at once is the degree of one record.
CYPHER 25
CALL () {
  MATCH (n:Message|Episode|Fact|Theme|Entity|Run|GatePass {namespace: $namespace})-[edge]->(other)
  WHERE NOT CASE type(edge)
    WHEN 'HAS_MESSAGE' THEN n:Episode AND other:Message
    WHEN 'HAS_FACT' THEN (n:Episode OR n:Theme) AND other:Fact
    WHEN 'FROM_EPISODE' THEN n:Fact AND other:Episode
    WHEN 'CITES' THEN n:Fact AND other:Message
    WHEN 'MENTIONS' THEN n:Fact AND other:Entity
    WHEN 'SUBJECT' THEN n:Fact AND other:Entity
    WHEN 'OBJECT' THEN n:Fact AND other:Entity
    WHEN 'TAGGED' THEN n:Fact AND other:Tag
    WHEN 'DERIVED_FROM' THEN n:Fact AND other:Fact
    WHEN 'RELATES_TO' THEN n:Entity AND other:Entity
    WHEN 'SUPERSEDES' THEN (n:Fact AND other:Fact) OR (n:Entity AND other:Entity)
    WHEN 'INJECTED' THEN n:Run AND other:Fact
    WHEN 'WITHHELD' THEN n:Run AND other:Fact
    WHEN 'DECIDED' THEN n:GatePass AND other:Fact
    ELSE true END
  RETURN type(edge) + ' joins ' + labels(n)[0] + ' ' + n.id + ' to ' + coalesce(labels(other)[0], 'a node') + ' '
         + coalesce(other.id, other.name, '?') AS problem
  UNION ALL
  MATCH (n:Episode|Fact|Theme|Run|GatePass {namespace: $namespace})
  CALL (n) {
    MATCH (n)-[edge:HAS_MESSAGE|HAS_FACT|FROM_EPISODE|CITES|MENTIONS|SUBJECT|OBJECT|TAGGED|DERIVED_FROM|INJECTED|WITHHELD|DECIDED]->(other)
    WITH type(edge) AS kind, other, count(*) AS times WHERE times > 1
    RETURN kind, other, times
  }
  RETURN kind + ' joins ' + labels(n)[0] + ' ' + n.id + ' to ' + coalesce(other.id, other.name) + ' '
         + toString(times) + ' times' AS problem
}
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
