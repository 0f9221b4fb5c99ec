// The candidates that retrieval.recall ranks, unranked, with what their scores are made of.
//
// params:
//   $namespace, $namespace_token : STRING
//   $fact_tokens : STRING                  one or two words: the namespace's, and that of its closed facts when asked for
//   $embedding   : VECTOR                  of the namespace's embedding space
//   $terms       : LIST<[word, needle, query, token]>   the question's words: as spoken, as the words of texts hold them ('' where
//                an earlier word has the same), as searched for in texts, and among the tokens kept beside them
//   $most_names : INTEGER                 how many names of a text are searched on with: the index refuses more than 1,024 clauses
//   $windows     : LIST<[first, last, weight]>   days that the question names
//   $closed_token : STRING                 of closed facts, to count them
//   $standing    : [INTEGER, INTEGER]      which facts, from and to, as fact.put has them: [0, 0], or [-1, 0] where closed facts may count
//   $include_invalidated : BOOLEAN         closed facts too
//   $message_limit, $fact_limit : INTEGER  candidates of each search; more where what was recorded later is left out behind it
//   $further    : INTEGER                 how many times as many a search by text looks at, where some of its first did not hold then
//   $valid_at    : ZONED DATETIME          facts that held, messages that had been said
//   $believed_at : ZONED DATETIME          only what had been recorded by then
//   $weights     : MAP                     fields of RecallWeights
// returns (one row):
//   candidates : LIST<[kind, id, content, speaker, at, episode, position, mentions_time, is_alone, near, similarity, text, fact, fact_text, link,
//                sources]>      kind 1 for a fact, 0 for a message; `at` as text; `near` the cosine where the first vector search
//                found it; `link` what ties it to a text that was found first, null where nothing does
//   lowest     : FLOAT | NULL   the lowest `near`
//   superseded : INTEGER        closed facts that have the question's words, at most 50
//   speakers   : LIST<STRING>   words of the question that name speakers
//
// why: for comparison with the plain ranking, and for fitting weights; the first half is that of retrieval.recall.
CYPHER 25
OPTIONAL MATCH (n:Namespace {name: $namespace})
WITH n WHERE n.left_embedding_1 IS NULL              // no row for who still searches in a space that was left
WITH coalesce(n.speakers, []) AS names
WITH [x IN $terms WHERE NOT x[0] IN names] AS wanted, [x IN $terms WHERE x[0] IN names | x[0]] AS named
WITH CASE WHEN wanted = [] THEN $terms ELSE wanted END AS wanted, named      // a question of nothing but names is searched for
WITH named, [x IN wanted WHERE x[1] <> '' | x[1]] AS needles,
     reduce(text = '', x IN wanted | text + ' ' + x[2]) AS words, reduce(text = '', x IN wanted | text + ' ' + x[3]) AS tokens
WITH named, needles, words, tokens,
     CASE WHEN trim(words) = '' THEN '' ELSE 'content:(' + words + ')' END + CASE WHEN trim(tokens) = '' THEN '' ELSE ' grams:(' + tokens + ')' END AS text
CALL (text, words) {
  CALL (text, words) {
    MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR $embedding
      WHERE m.namespace = $namespace AND m.timestamp <= $valid_at LIMIT $message_limit) SCORE AS s
    RETURN m, 2 * s - 1 AS near, null AS fc, null AS said
   UNION ALL
    WITH text, words WHERE text <> ''
    WITH '+namespace_token:' + $namespace_token + '^0 +(' + text + CASE WHEN trim(words) = '' THEN '' ELSE ' context:(' + words + ')^0.5' END + ')' AS query
    CALL (query) {
      CALL db.index.fulltext.queryNodes('message_text', query, {limit: $message_limit}) YIELD node
      RETURN collect([node, coalesce(node.timestamp <= $valid_at AND node.recorded_at <= $believed_at, false)]) AS page
    }
    CALL (query, page) {
      WITH page WHERE size(page) < $message_limit OR all(x IN page WHERE x[1])
      UNWIND page AS x
      RETURN x[0] AS node
     UNION ALL                                       // a full page, and some of it of another time: look behind it
      WITH query, page WHERE size(page) >= $message_limit AND NOT all(x IN page WHERE x[1])
      CALL db.index.fulltext.queryNodes('message_text', query, {limit: $message_limit * $further}) YIELD node
      WHERE node.timestamp <= $valid_at AND node.recorded_at <= $believed_at
      RETURN node LIMIT $message_limit
    }
    RETURN node AS m, null AS near, null AS fc, null AS said
   UNION ALL
    UNWIND $windows AS w
    WITH datetime(w[0] + 'T00:00Z') AS begins, datetime(w[1] + 'T00:00Z') + duration({days: 1}) AS ends
    MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR $embedding
      WHERE m.namespace = $namespace AND m.timestamp >= begins AND m.timestamp < ends LIMIT $weights.near_dates) SCORE AS s
    RETURN m, 2 * s - 1 AS near, null AS fc, null AS said
   UNION ALL
    CALL (text) {
      MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding
        WHERE f.namespace = $namespace AND f.standing >= $standing[0] AND f.standing <= $standing[1]
          AND f.valid_from <= $valid_at AND f.valid_until > $valid_at LIMIT $fact_limit) SCORE AS s
      RETURN f, 2 * s - 1 AS c
     UNION ALL
      WITH text WHERE text <> ''
      WITH '+namespace_token:(' + $fact_tokens + ')^0 +(' + text + ')' AS query
      CALL (query) {
        CALL db.index.fulltext.queryNodes('fact_text', query, {limit: $fact_limit}) YIELD node
        RETURN collect([node, coalesce(NOT node.quarantined AND node.valid_from <= $valid_at AND node.valid_until > $valid_at AND node.recorded_at <= $believed_at
          AND (node.live OR $include_invalidated OR node.closed_at > $believed_at), false)]) AS page
      }
      CALL (query, page) {
        UNWIND page AS x
        WITH x, page WHERE x[1] AND (size(page) < $fact_limit OR all(x IN page WHERE x[1]))
        RETURN x[0] AS node
       UNION ALL
        WITH query, page WHERE size(page) >= $fact_limit AND NOT all(x IN page WHERE x[1])
        CALL db.index.fulltext.queryNodes('fact_text', query, {limit: $fact_limit * $further}) YIELD node
        WHERE NOT node.quarantined AND node.valid_from <= $valid_at AND node.valid_until > $valid_at AND node.recorded_at <= $believed_at
          AND (node.live OR $include_invalidated OR node.closed_at > $believed_at)
        RETURN node LIMIT $fact_limit
      }
      RETURN node AS f, null AS c
    }
    WITH f, max(c) AS c
    WHERE f.recorded_at <= $believed_at AND (f.live OR $include_invalidated OR f.closed_at > $believed_at)
    WITH f, coalesce(c, 1 - vector_distance(vector(f.embedding_1, 384, FLOAT32), $embedding, COSINE), 0.0) AS c, c AS near
    OPTIONAL MATCH (f)-[:CITES]->(m:Message) WHERE m.live AND m.timestamp <= $valid_at
    RETURN coalesce(m, f) AS m, CASE WHEN m IS NULL THEN near END AS near,
           CASE WHEN NOT m.content CONTAINS f.content THEN c END AS fc, CASE WHEN NOT m.content CONTAINS f.content THEN coalesce(f.words, ' ' + toLower(f.content) + ' ') END AS said
  }
  WITH m, max(near) AS near, coalesce(max(fc), 0.0) AS fc, collect(said) AS said
  WHERE m:Fact OR (m.timestamp <= $valid_at AND m.recorded_at <= $believed_at)
  RETURN collect({m: m, near: near, fc: fc, said: said, low: coalesce(m.words, ' ' + toLower(m.content) + ' '),
    c: coalesce(near, 1 - vector_distance(vector(m.embedding_1, 384, FLOAT32), $embedding, COSINE), 0.0)}) AS found
}
CALL (found, needles) {                              // words: BM25, with what was found as the collection
  WITH found, CASE WHEN found = [] THEN 1.0 ELSE 1.0 * reduce(s = 0, h IN found | s + size(h.low)) / size(found) END AS mean,
       [x IN needles | [x, log(1 + size(found) / (1.0 + size([h IN found WHERE h.low CONTAINS x])))]] AS spread
  UNWIND found AS h
  WITH h, reduce(s = 0.0, y IN [x IN spread WHERE h.low CONTAINS x[0] | [x[1], size(split(h.low, x[0])) - 1]] |
    s + 2.2 * y[0] * y[1] / (y[1] + 0.3 + 0.9 * size(h.low) / mean)) AS b,
    [t IN h.said | reduce(s = 0.0, y IN [x IN spread WHERE t CONTAINS x[0] | [x[1], size(split(t, x[0])) - 1]] |
      s + 2.2 * y[0] * y[1] / (y[1] + 0.3 + 0.9 * size(t) / mean))] AS fbs
  WITH h {.m, .near, .fc, .c, b: b, fb: reduce(best = 0.0, x IN fbs | CASE WHEN x > best THEN x ELSE best END)} AS h
  RETURN collect(h {.*, link: null}) AS first, max(h.b) AS top_text, min(h.near) AS lowest
}
WITH named, needles, text, words, tokens, first, lowest, CASE WHEN top_text > 0 THEN top_text ELSE 1.0 END AS top_text
CALL (first, top_text) {                             // second step: from what stands alone, without a conversation around it
  UNWIND first AS h
  WITH h, h.c + $weights.seed_text * h.b / top_text AS worth ORDER BY worth DESC, h.m.id LIMIT $weights.seeds
  WITH h WHERE h.m.context = '' AND h.m.embedding_1 IS NOT NULL
  RETURN collect(h.m) AS seeds
}
CALL (seeds, words, tokens, needles) {
  UNWIND range(0, size(seeds) - 1) AS rank
  WITH rank, seeds[rank] AS seed, words, tokens, needles
  CALL (seed, words, tokens) {
    MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR seed.embedding_1
      WHERE m.namespace = $namespace AND m.timestamp <= $valid_at LIMIT $weights.near_seed)
    RETURN m
   UNION
    WITH words, tokens, reduce(t = '', x IN seed.names[..$most_names] | t + ' ' + x) AS names WHERE trim(tokens + names) <> ''
    WITH words + names AS wider, CASE WHEN trim(words) = '' THEN '' ELSE '(' + words + ')^2' END + names AS said,
         CASE WHEN trim(tokens) = '' THEN '' ELSE '(' + tokens + ')^2' END + names AS kept
    CALL db.index.fulltext.queryNodes('message_text', '+namespace_token:' + $namespace_token + '^0 +(grams:(' + kept + ')'
      + CASE WHEN trim(wider) = '' THEN '' ELSE ' content:(' + said + ') context:(' + wider + ')^0.5' END + ')', {limit: $weights.near_seed}) YIELD node
    RETURN node AS m
  }
  WITH rank, seed, needles, m WHERE m <> seed AND m.embedding_1 IS NOT NULL AND m.timestamp <= $valid_at AND m.recorded_at <= $believed_at
  WITH rank, seed, needles + [x IN coalesce(seed.names[..$most_names], []) WHERE NOT ' ' + x IN needles | ' ' + x] AS wider, collect({m: m, low: coalesce(m.words, ' ' + toLower(m.content) + ' ')}) AS reached
  WITH rank, seed, reached, CASE WHEN reached = [] THEN 1.0 ELSE 1.0 * reduce(s = 0, h IN reached | s + size(h.low)) / size(reached) END AS mean,
       [x IN wider | [x, log(1 + size(reached) / (1.0 + size([h IN reached WHERE h.low CONTAINS x])))]] AS spread
  WITH rank, seed, [h IN reached | {m: h.m, b: reduce(s = 0.0, y IN [x IN spread WHERE h.low CONTAINS x[0] | [x[1], size(split(h.low, x[0])) - 1]] |
    s + 2.2 * y[0] * y[1] / (y[1] + 0.3 + 0.9 * size(h.low) / mean))}] AS reached
  WITH rank, seed, reached, reduce(top = 0.0, x IN reached | CASE WHEN x.b > top THEN x.b ELSE top END) AS top
  UNWIND reached AS x
  RETURN collect({m: x.m, near: null, b: 0.0, fc: 0.0, fb: 0.0, c: null, link:
    $weights.hop_similarity * (1 - vector_distance(vector(x.m.embedding_1, 384, FLOAT32), vector(seed.embedding_1, 384, FLOAT32), COSINE))
    + $weights.hop_text * x.b / CASE WHEN top > 0 THEN top ELSE 1.0 END - $weights.hop_rank * rank}) AS second
}
CALL (first, second) {
  UNWIND first + second AS h
  WITH h.m AS m, max(h.near) AS near, max(h.b) AS b, max(h.fc) AS fc, max(h.fb) AS fb, max(h.c) AS c, max(h.link) AS link
  WITH m, near, b, fc, fb, link, coalesce(c, 1 - vector_distance(vector(m.embedding_1, 384, FLOAT32), $embedding, COSINE), 0.0) AS c
  RETURN collect([CASE WHEN m:Fact THEN 1 ELSE 0 END, m.id, m.content, coalesce(m.speaker, m.role), toString(coalesce(m.timestamp, m.valid_from)),
    m.episode_id, coalesce(m.position, 0), coalesce(m.mentions_time, false), coalesce(m.context, '-') = '', near, c, b, fc, fb, link,
    CASE WHEN m:Fact THEN COLLECT { MATCH (m)-[:CITES]->(s) RETURN s.id } ELSE [] END]) AS candidates
}
CALL (text) {
  WITH text WHERE text <> '' AND NOT $include_invalidated
  CALL db.index.fulltext.queryNodes('fact_text', '+namespace_token:' + $closed_token + '^0 +(' + text + ')', {limit: 50}) YIELD node
  WHERE NOT node.live AND NOT node.quarantined
  RETURN count(node) AS superseded
}
RETURN candidates, lowest, superseded, named AS speakers
