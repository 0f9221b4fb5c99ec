// Finds and ranks the evidence for a question: messages and facts by vector, by text and by date, one linear score.
//
// params:
//   $namespace, $namespace_token : STRING
//   $fact_tokens : STRING                  one or two words: the namespace's, and that of its closed facts when asked for
//   $embedding   : VECTOR                  of the namespace's embedding space
//   $terms       : LIST<[word, needle, query, token]>   the question's words: as spoken, as the words of texts hold them ('' where
//                an earlier word has the same), as searched for in texts, and among the tokens kept beside them
//   $most_names : INTEGER                 how many names of a text are searched on with: the index refuses more than 1,024 clauses
//   $windows     : LIST<[first, last, weight]>   days that the question names
//   $asks_when   : BOOLEAN                 whether it asks for a time
//   $closed_token : STRING                 of closed facts, to count them
//   $standing    : [INTEGER, INTEGER]      which facts, from and to, as fact.put has them: [0, 0], or [-1, 0] where closed facts may count
//   $include_invalidated : BOOLEAN         closed facts too
//   $message_limit, $fact_limit : INTEGER  candidates of each search; more where what was recorded later is left out behind it
//   $further    : INTEGER                 how many times as many a search by text looks at, where some of its first did not hold then
//   $valid_at    : ZONED DATETIME          facts that held, messages that had been said
//   $believed_at : ZONED DATETIME          only what had been recorded by then
//   $weights     : MAP                     fields of RecallWeights
//   $limit       : INTEGER                 the most rows
// returns (one row):
//   evidence   : LIST<[kind, id, content, speaker, at, episode, position, score, parts, sources]>   best first; kind 1 for a
//                fact, 0 for a message; `at` as text, `episode` its id or null, `parts` the summands
//                of the score in ten-thousandths
//   candidates : INTEGER         how many were looked at
//   superseded : INTEGER         closed facts that have the question's words, at most 50
//   at_other_times : INTEGER     0 where there is evidence; else messages and facts that only the time kept out, of the first 50 of each search
//   speakers   : LIST<STRING>    words of the question that name speakers
//   is_filled  : BOOLEAN         whether the namespace holds any message or fact
//
// why: two searches that know the namespace, then arithmetic over at most a few hundred rows. Names of speakers are taken out
// of the text search, since their rarity in the database says nothing of their rarity in the conversation. A fact speaks for
// the messages that it cites, unless it only repeats their words, and for itself where it cites none that is stored.
// The full-text index only proposes: its scores rest on how rare a word is in all namespaces together. What was found is ranked
// by BM25 (k1 1.2, b 0.75, lengths in characters) with what was found as the collection; 2.2 is k1 + 1, 0.3 and 0.9 are
// k1 (1 - b) and k1 b.
// Messages without a conversation around them (documents) get a second step: the best of them search on with their own vectors
// and names, which finds what a question only reaches through another text.
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
  WITH h {.m, .near, .fc, .c, .low, b: b, fb: reduce(best = 0.0, x IN fbs | CASE WHEN x > best THEN x ELSE best END)} AS h
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
  WITH rank, seed, [h IN reached | {m: h.m, low: h.low, b: reduce(s = 0.0, y IN [x IN spread WHERE h.low CONTAINS x[0] | [x[1], size(split(h.low, x[0])) - 1]] |
    s + 2.2 * y[0] * y[1] / (y[1] + 0.3 + 0.9 * size(h.low) / mean))}] AS reached
  WITH rank, seed, reached, reduce(top = 0.0, x IN reached | CASE WHEN x.b > top THEN x.b ELSE top END) AS top
  UNWIND reached AS x
  RETURN collect({m: x.m, near: null, b: 0.0, fc: 0.0, fb: 0.0, c: null, low: x.low, link:
    $weights.hop_similarity * (1 - vector_distance(vector(x.m.embedding_1, 384, FLOAT32), vector(seed.embedding_1, 384, FLOAT32), COSINE))
    + $weights.hop_text * x.b / CASE WHEN top > 0 THEN top ELSE 1.0 END - $weights.hop_rank * rank}) AS second
}
CALL (first, second, needles, lowest) {
  UNWIND first + second AS h
  WITH h.m AS m, max(h.near) AS near, max(h.b) AS b, max(h.fc) AS fc, max(h.fb) AS fb, max(h.c) AS c, max(h.link) AS link, max(h.low) AS low
  WITH m, near, b, fc, fb, link, low, (1 + $weights.hop_similarity / 2) * coalesce(lowest, 0.0) AS floor,
       coalesce(c, 1 - vector_distance(vector(m.embedding_1, 384, FLOAT32), $embedding, COSINE), 0.0) AS c
  WITH near, {m: m, e: coalesce(m.episode_id, m.id), p: coalesce(m.position, 0), c: c, near: near, b: b, fc: fc, fb: fb,
       hop: CASE WHEN link IS NULL THEN 0.0 WHEN c + link > floor THEN c + link - floor ELSE 0.0 END,
       has: [x IN needles WHERE low CONTAINS x]} AS h
  ORDER BY coalesce(near, -1.0) DESC
  RETURN collect(h) AS hits, max(h.b) AS best, max(h.fb) AS fbest, min(h.near) AS floor
}
WITH named, text, hits, CASE WHEN best > 0 THEN best ELSE 1.0 END AS best, CASE WHEN fbest > 0 THEN fbest ELSE 1.0 END AS fbest,
  CASE WHEN floor < $weights.floor THEN floor ELSE $weights.floor END AS floor,
  [x IN needles | [x, log(1 + size(hits) / (1.0 + size([h IN hits WHERE x IN h.has])))]] AS rarity
WITH named, text, hits, size(hits) AS candidates, best, fbest, floor, rarity, reduce(s = 1e-9, x IN rarity | s + x[1]) AS total
CALL (named, hits, best, fbest, floor, rarity, total) {
  UNWIND hits AS h
  WITH named, best, fbest, floor, rarity, total, h.e AS e, collect(h) AS hs, max(h.b) AS eb, collect(h.near)[..3] AS top
  WITH named, best, fbest, hs, rarity, total,
    $weights.episode * (reduce(s = 0.0, x IN top | s + x) + (3 - size(top)) * floor) / 3 + $weights.episode_text * eb / best AS prior
  UNWIND hs AS h
  WITH h.m AS m, h, [
    $weights.similarity * h.c,
    $weights.text * h.b / best,
    prior,
    $weights.neighbour * reduce(x = 0.0, o IN hs | CASE WHEN abs(o.p - h.p) = 1 AND o.c > x THEN o.c ELSE x END),
    CASE WHEN h.m.context = '' THEN $weights.coverage_alone ELSE $weights.coverage END * reduce(s = 0.0, x IN rarity |
      CASE WHEN any(o IN hs WHERE abs(o.p - h.p) <= $weights.reach AND x[0] IN o.has) THEN s + x[1] ELSE s END) / total,
    $weights.date * reduce(x = 0.0, w IN $windows | CASE WHEN w[2] > x
      AND coalesce(h.m.day, toString(date(h.m.valid_from))) >= w[0] AND coalesce(h.m.day, toString(date(h.m.valid_from))) <= w[1] THEN w[2] ELSE x END),
    CASE WHEN $asks_when AND h.m.mentions_time THEN $weights.time ELSE 0.0 END,
    CASE WHEN size(named) = 0 THEN 0.0
      WHEN any(w IN coalesce(h.m.speaker_words, [h.m.role]) WHERE w IN named) THEN $weights.speaker ELSE -$weights.other_speaker END,
    CASE WHEN h.m.content ENDS WITH '?' THEN -$weights.question ELSE 0.0 END,
    $weights.fact * h.fc + $weights.fact_text * h.fb / fbest,
    $weights.hop * h.hop] AS parts
  WITH m, h, parts, reduce(s = 0.0, x IN parts | s + x) AS score
  ORDER BY score DESC, m.id LIMIT $limit
  RETURN collect([CASE WHEN m:Fact THEN 1 ELSE 0 END, m.id, m.content, coalesce(m.speaker, m.role), toString(coalesce(m.timestamp, m.valid_from)),
    m.episode_id, h.p, score, [x IN parts | toInteger(round(x * 10000))],
    CASE WHEN m:Fact THEN COLLECT { MATCH (m)-[:CITES]->(s) RETURN s.id } ELSE [] END]) AS evidence
}
CALL (text) {
  WITH text WHERE text <> '' AND NOT $include_invalidated
  CALL db.index.fulltext.queryNodes('fact_text', '+namespace_token:' + $closed_token + '^0 +(' + text + ')', {limit: 50}) YIELD node
  WHERE NOT node.live AND NOT node.quarantined
  RETURN count(node) AS superseded
}
CALL (candidates, text) {                           // only for an empty answer: what time alone kept out of it
  WITH text WHERE candidates = 0
  CALL (text) {
    MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR $embedding
      WHERE m.namespace = $namespace LIMIT 50)
    RETURN m AS other
   UNION
    MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $embedding
      WHERE f.namespace = $namespace AND f.standing >= $standing[0] AND f.standing <= $standing[1] LIMIT 50)
    RETURN f AS other
   UNION
    WITH text WHERE text <> ''
    CALL db.index.fulltext.queryNodes('message_text', '+namespace_token:' + $namespace_token + '^0 +(' + text + ')', {limit: 50}) YIELD node
    RETURN node AS other
   UNION
    WITH text WHERE text <> ''
    CALL db.index.fulltext.queryNodes('fact_text', '+namespace_token:(' + $fact_tokens + ')^0 +(' + text + ')', {limit: 50}) YIELD node
    WHERE NOT node.quarantined
    RETURN node AS other
  }
  WITH other WHERE (other.live OR $include_invalidated OR other.closed_at > $believed_at)
    AND (other.recorded_at > $believed_at OR coalesce(other.valid_from, other.timestamp) > $valid_at OR other.valid_until <= $valid_at)
  RETURN count(other) AS at_other_times
}
RETURN evidence, candidates, superseded, at_other_times, named AS speakers,
       CASE WHEN candidates = 0 THEN EXISTS { MATCH (m:Message {namespace: $namespace}) WHERE m.id >= '' AND m.live }
         OR EXISTS { MATCH (f:Fact {namespace: $namespace}) WHERE f.id >= '' AND f.live IS NOT NULL } ELSE true END AS is_filled
