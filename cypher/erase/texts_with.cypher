// Messages and facts with a text somewhere in them, in what they say or in who says it, closed ones too.
//
// params:
//   $namespace : STRING
//   $text      : STRING   lower case
// returns, a row for each:
//   kind, id : STRING
//   text     : STRING   where it was found
//
// why: full-text indexes go by words and stems, and whoever erases a name must not miss one: all of the namespace is read.
CYPHER 25
CALL () {
  MATCH (n:Message {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL
    AND (toLower(n.content) CONTAINS $text OR toLower(coalesce(n.speaker, '')) CONTAINS $text)
  RETURN 'message' AS kind, n.id AS id, coalesce(n.speaker, '') + '\n' + n.content AS text
 UNION ALL
  MATCH (n:Fact {namespace: $namespace}) WHERE n.id >= '' AND n.live IS NOT NULL AND toLower(n.content) CONTAINS $text
  RETURN 'fact' AS kind, n.id AS id, n.content AS text
}
RETURN kind, id, text
ORDER BY kind, id
