// 12 What is named but not stored: placeholders and who names them
// returns: paths, at most 100
MATCH path = (placeholder:Placeholder)--()
RETURN path
ORDER BY placeholder.namespace, placeholder.id
LIMIT 100
