"""A temporal memory for AI agents that lives in Neo4j.

Names are loaded when they are first used: importing the package opens nothing and loads no driver.
"""
