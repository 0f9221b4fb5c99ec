"""Exports of chat assistants as messages: what ChatGPT, Claude and, by Google Takeout, Gemini hand out to users."""

from remembrancer.hierarchy.exports.archive import read_export_file
from remembrancer.hierarchy.exports.export import Branches, Export, ExportFormat, Skipped
from remembrancer.hierarchy.exports.formats import export_format, read_export

__all__ = ["Branches", "Export", "ExportFormat", "Skipped", "export_format", "read_export", "read_export_file"]
