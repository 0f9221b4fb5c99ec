// 02 How much is stored, by namespace and kind
// returns: namespace, kind, stored, closed; one row for each kind that is there
MATCH (record:Message|Episode|Fact|Theme|Entity)
WHERE NOT record:Placeholder
RETURN record.namespace AS namespace, labels(record)[0] AS kind, count(*) AS stored,
       count(CASE WHEN record.live = false THEN 1 END) AS closed
ORDER BY namespace, kind
