// Passes that miss entries, entries that miss their pass, and passes of which only one names the other.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
CYPHER 25
CALL () {
  MATCH (pass:Pass {namespace: $namespace})
  WITH pass, COUNT { MATCH (e:PassEntry {namespace: $namespace, pass_id: pass.id}) WHERE e.position >= 0 } AS entries,
       COUNT { MATCH (e:PassEntry {namespace: $namespace, pass_id: pass.id}) WHERE e.position >= pass.changes } AS beyond
  WITH pass, CASE
      WHEN entries <> coalesce(pass.changes, -1) OR beyond > 0
        THEN 'has ' + toString(entries) + ' entries and says ' + coalesce(toString(pass.changes), 'nothing')
      WHEN pass.undoes IS NOT NULL AND NOT EXISTS { (:Pass {namespace: $namespace, id: pass.undoes, undone_by: pass.id}) }
        THEN 'takes back pass ' + pass.undoes + ', which does not say so'
      WHEN pass.undone_by IS NOT NULL AND NOT EXISTS { (:Pass {namespace: $namespace, id: pass.undone_by, undoes: pass.id}) }
        THEN 'was taken back by pass ' + pass.undone_by + ', which does not say so'
    END AS difference
  WHERE difference IS NOT NULL
  RETURN 'pass ' + pass.id + ' ' + difference AS problem
  UNION ALL
  MATCH (entry:PassEntry {namespace: $namespace})
  WHERE NOT EXISTS { (:Pass {namespace: $namespace, id: entry.pass_id}) }
  RETURN 'entry ' + toString(entry.position) + ' is of pass ' + entry.pass_id + ', which is not stored' AS problem
}
WITH problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
