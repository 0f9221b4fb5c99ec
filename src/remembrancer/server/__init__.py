"""A real Neo4j on this machine, from Python packages alone: no Docker, no Java to install, no account.

`LocalServer.open(path)` joins the server of a database folder or starts it; `up`, `down` and `status` are what the
command line uses. Needs `remembrancer[local]`. Importing this package opens nothing and loads none of the optional
packages.
"""

from __future__ import annotations

from remembrancer.server.archive import remove_archives
from remembrancer.server.backup import Backup, backup, restore_backup
from remembrancer.server.distribution import Distribution, Progress, cache_folder, install
from remembrancer.server.folder import default_path
from remembrancer.server.java import Java, find_java
from remembrancer.server.kit_server import ServedKit, serve_kit
from remembrancer.server.local import LocalServer, ServerStatus, down, status, up
from remembrancer.server.training import make_archive

__all__ = [
    "Backup",
    "Distribution",
    "Java",
    "LocalServer",
    "Progress",
    "ServedKit",
    "ServerStatus",
    "backup",
    "cache_folder",
    "default_path",
    "down",
    "find_java",
    "install",
    "make_archive",
    "remove_archives",
    "restore_backup",
    "serve_kit",
    "status",
    "up",
]
