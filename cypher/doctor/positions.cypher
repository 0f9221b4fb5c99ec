// Lists whose places do not fit: missing, given twice, or with gaps; and themes that would give a place again.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: a list is kept as places on edges. Messages leave gaps in an episode when another one takes them over.
CYPHER 25
MATCH (n:Episode|Fact|Theme|Run {namespace: $namespace}) WHERE NOT n:Placeholder
CALL (n) {
  MATCH (n)-[edge:HAS_MESSAGE|HAS_FACT|FROM_EPISODE|CITES|MENTIONS|TAGGED|INJECTED]->()
  UNWIND CASE WHEN size(coalesce(edge.positions, [])) = 0 THEN [null] ELSE edge.positions END AS place
  WITH type(edge) AS kind, count(*) AS listed, count(DISTINCT place) AS places, min(place) AS lowest, max(place) AS highest
  WITH kind, CASE
      WHEN listed <> places THEN 'places that are missing or given twice'
      WHEN lowest < 0 THEN 'a place before the first'
      WHEN kind <> 'HAS_MESSAGE' AND highest + 1 <> listed THEN 'gaps'
      WHEN n:Theme AND coalesce(n.next_position, -1) <= highest THEN 'a next place that is taken'
    END AS difference
  WHERE difference IS NOT NULL
  RETURN kind, difference
}
WITH labels(n)[0] + ' ' + n.id + ' has ' + difference + ' in ' + kind AS problem
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
