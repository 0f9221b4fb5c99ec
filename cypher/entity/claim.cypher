// Gets or creates entities by normalised name and type, atomically, while entity.put may store equal names.
//
// params:
//   $namespace          : STRING
//   $now                : ZONED DATETIME   UTC
//   $embedding_property : STRING           `embedding_<n>` of the namespace's space
//   $rows : LIST<MAP>, sorted by name_key, each key once:
//     name_key   : STRING          digest of normalised name and type: names have no bound in length, keys have
//     id         : STRING          the id to use if the entity has to be made
//     properties : MAP             of a new entity, `name_key` and `live` included
//     embedding  : VECTOR | NULL
// returns, a row per key:
//   name_key : STRING, id : STRING
//   written  : 'created' | 'changed' | NULL   'changed': its id was that of another entity, or of a closed one, which it
//                                             replaces; NULL: it was stored and stays as it is
//
// why: two nodes with two jobs. `Entity.name_key` finds the entity, so that renamed, deleted and hand-written ones count as
// they are now; of several the earliest created_at, then id. `EntityName` (no edges) is only a lock: taken when nothing
// was found and held until the commit, then the look is repeated. So a known entity costs no lock.
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Entity {namespace: $namespace, name_key: row.name_key}) WHERE known.live
WITH row, known ORDER BY row.name_key, known.created_at, known.id
WITH row, collect(known)[0] AS known
ORDER BY row.name_key
CALL (row, known) {
  WITH row, known WHERE known IS NULL
  MERGE (name:EntityName {namespace: $namespace, key: row.name_key})
  SET name.claimed_at = $now
  WITH row, name
  OPTIONAL MATCH (other:Entity {namespace: $namespace, name_key: row.name_key}) WHERE other.live
  WITH row, name, other ORDER BY other.created_at, other.id
  WITH row, name, collect(other)[0] AS other
  CALL (row, other) {
    WITH row, other WHERE other IS NULL
    MERGE (made:Entity {namespace: $namespace, id: row.id}) ON CREATE SET made:Placeholder
    WITH row, made, CASE WHEN made:Placeholder THEN 'created' ELSE 'changed' END AS written
    REMOVE made:Placeholder
    SET made += row.properties, made[$embedding_property] = null
    RETURN made, written
   UNION ALL
    WITH row, other WHERE other IS NOT NULL
    RETURN other AS made, null AS written
  }
  RETURN made AS entity, written
 UNION ALL
  WITH row, known WHERE known IS NOT NULL
  RETURN known AS entity, null AS written
}
CALL (entity, row, written) {
  WITH entity, row WHERE written IS NOT NULL AND row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(entity, $embedding_property, row.embedding)
}
RETURN row.name_key AS name_key, entity.id AS id, written
ORDER BY name_key
