// Whether other namespaces need an embedding space.
//
// params:
//   $namespace : STRING    the one that does not count
//   $number    : INTEGER   number of the space
// returns (one row):
//   is_used : BOOLEAN
//
// why: with few namespaces the planner may take the index of their names for `<>`, and would keep that plan when there are many.
CYPHER 25
RETURN EXISTS { MATCH (n:Namespace {space: $number}) USING INDEX n:Namespace(space) WHERE n.name <> $namespace }
    OR EXISTS { MATCH (n:Namespace {next_space: $number}) USING INDEX n:Namespace(next_space) WHERE n.name <> $namespace }
    OR EXISTS { MATCH (n:Namespace {left_space: $number}) USING INDEX n:Namespace(left_space) WHERE n.name <> $namespace } AS is_used
