// Whether a database takes writes; where it does not, uses of facts are not counted.
//
// params:
//   $database : STRING   its name
// returns, a row for each way in which the servers of a cluster hold it:
//   access : STRING      `read-write` or `read-only`
CYPHER 25
SHOW DATABASES YIELD name, access, writer WHERE name = $database RETURN DISTINCT access, writer ORDER BY writer DESC, access
