// Messages whose copy of their episode and place differs from the edge that their episode has to them.
//
// params:
//   $namespace : STRING
//   $examples  : INTEGER        the most to list
// returns (one row):
//   total    : INTEGER
//   examples : LIST<STRING>
//
// why: recall reads the copies and never follows the edge; a message belongs to one episode at most.
CYPHER 25
MATCH (message:Message {namespace: $namespace}) WHERE NOT message:Placeholder
OPTIONAL MATCH (message)<-[edge:HAS_MESSAGE]-(episode:Episode)
WITH message, edge, episode ORDER BY episode.id
WITH message, collect(episode.id) AS episodes, collect(edge.positions[0]) AS places
WITH message, CASE
    WHEN size(episodes) > 1 THEN 'is in ' + toString(size(episodes)) + ' episodes'
    WHEN coalesce(message.episode_id, '') <> coalesce(episodes[0], '')
      THEN 'is in ' + coalesce('episode ' + episodes[0], 'no episode') + ', its copy says ' + coalesce(message.episode_id, 'none')
    WHEN coalesce(message.position, -1) <> coalesce(places[0], -1)
      THEN 'is at place ' + coalesce(toString(places[0]), 'none') + ', its copy says ' + coalesce(toString(message.position), 'none')
  END AS difference
WHERE difference IS NOT NULL
WITH 'message ' + message.id + ' ' + difference AS problem ORDER BY problem
WITH collect(problem) AS found
RETURN size(found) AS total, found[..$examples] AS examples
