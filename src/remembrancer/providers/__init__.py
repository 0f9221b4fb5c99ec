"""Adapters to models, local and remote. Each is imported from its own package, so that none loads another's needs."""
