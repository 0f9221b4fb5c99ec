// Messages whose copy of their episode and place differs from the edge that their episode has to them.
//
// params:
//   $namespace : STRING
//   $most      : INTEGER        the most to count
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: recall reads the copies and never follows the edge; a message belongs to one episode at most.
CYPHER 25
MATCH (message:Message {namespace: $namespace}) WHERE NOT message:Placeholder
WITH message, COLLECT { MATCH (message)<-[edge:HAS_MESSAGE]-(episode:Episode)
                       RETURN [episode.id, edge.positions[0]] ORDER BY episode.id } AS found
WITH message, [one IN found | one[0]] AS episodes, [one IN found | one[1]] AS places
WITH message, CASE
    WHEN size(episodes) > 1 THEN 'is in ' + toString(size(episodes)) + ' episodes'
    WHEN coalesce(message.episode_id, '') <> coalesce(episodes[0], '')
      THEN 'is in ' + coalesce('episode ' + episodes[0], 'no episode') + ', its copy says ' + coalesce(message.episode_id, 'none')
    WHEN coalesce(message.position, -1) <> coalesce(places[0], -1)
      THEN 'is at place ' + coalesce(toString(places[0]), 'none') + ', its copy says ' + coalesce(toString(message.position), 'none')
  END AS difference
WHERE difference IS NOT NULL
WITH 'message ' + message.id + ' ' + difference AS problem LIMIT $most
WITH problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
