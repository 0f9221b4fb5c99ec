// 09 Conversations to read: messages in the order in which they were said
// returns: conversation, said_at, who, what; the latest 200
MATCH (message:Message)
WHERE NOT message:Placeholder
WITH message
ORDER BY message.timestamp DESC, message.id DESC
LIMIT 200
RETURN message.conversation AS conversation, message.timestamp AS said_at,
       coalesce(message.speaker, message.role) AS who, message.content AS what
ORDER BY conversation, said_at, message.id
