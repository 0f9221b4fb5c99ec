// 05 What changed: facts and entities that were replaced, and by what
// returns: paths of the audit chain, the latest 100
MATCH path = (newer)-[step:SUPERSEDES]->(older)
RETURN path
ORDER BY coalesce(older.closed_at, older.invalidated_at, older.recorded_at) DESC, older.id
LIMIT 100
