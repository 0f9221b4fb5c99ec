// 11 Timeline of facts: from when until when each held, and since when we know
// returns: content, valid_from, valid_until (null: still holds), known_since, closed; the latest 200
MATCH (fact:Fact)
WHERE NOT fact:Placeholder
RETURN fact.content AS content, fact.valid_from AS valid_from,
       CASE WHEN fact.valid_until < datetime({year: 10000, timezone: 'Z'}) THEN fact.valid_until END AS valid_until,
       fact.recorded_at AS known_since, NOT fact.live AS closed
ORDER BY valid_from DESC, fact.id
LIMIT 200
