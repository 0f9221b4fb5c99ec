// Whether other namespaces need an embedding space.
//
// params:
//   $namespace : STRING    the one that does not count
//   $number    : INTEGER   number of the space
// returns (one row):
//   is_used : BOOLEAN
//
// why: where an index holds next to nothing the planner may scan it, and would keep that plan when it holds much.
CYPHER 25
RETURN EXISTS { MATCH (n:Namespace {space: $number}) USING INDEX SEEK n:Namespace(space) WHERE n.name <> $namespace }
    OR EXISTS { MATCH (n:Namespace {next_space: $number}) USING INDEX SEEK n:Namespace(next_space) WHERE n.name <> $namespace }
    OR EXISTS { MATCH (n:Namespace {left_space: $number}) USING INDEX SEEK n:Namespace(left_space) WHERE n.name <> $namespace } AS is_used
