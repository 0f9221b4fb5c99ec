"""Reading a dependency parse: who is named in a text, what each name is, and how the sentences relate them.

Everything here takes a parsed document of spaCy and returns plain values; nothing imports spaCy. Labels are those of
spaCy's English pipelines (ClearNLP dependencies, OntoNotes entities, universal parts of speech).
"""
