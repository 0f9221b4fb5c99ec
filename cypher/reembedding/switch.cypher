// Moves a namespace into the space for which it was re-embedded. Run behind reembedding.lock, when nothing is missing.
//
// params:
//   $namespace : STRING
//   $new       : STRING    `embedding_<n>` of that space
// returns: nothing
//
// why: every search in a space looks for the mark of having left it, so that none goes on in vectors that are being removed.
CYPHER 25
MATCH (n:Namespace {name: $namespace})
SET n.left_space = n.space, n.space = n.next_space, n.next_space = null
SET n.left_embedding_1 = true, n['left_' + $new] = null
