// The server and the database of this connection.
//
// returns (one row):
//   version  : STRING           of Neo4j
//   edition  : STRING           `community` or `enterprise`
//   database : STRING           name of the database
CYPHER 25
CALL dbms.components() YIELD name, versions, edition
WITH versions[0] AS version, edition WHERE name = 'Neo4j Kernel'
CALL db.info() YIELD name
RETURN version, edition, name AS database
