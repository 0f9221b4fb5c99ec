// Whether other namespaces need an embedding space.
//
// params:
//   $namespace : STRING    the one that does not count
//   $number    : INTEGER   number of the space
// returns (one row):
//   is_used : BOOLEAN
CYPHER 25
RETURN EXISTS { MATCH (n:Namespace {space: $number}) WHERE n.name <> $namespace }
    OR EXISTS { MATCH (n:Namespace {next_space: $number}) WHERE n.name <> $namespace }
    OR EXISTS { MATCH (n:Namespace {left_space: $number}) WHERE n.name <> $namespace } AS is_used
