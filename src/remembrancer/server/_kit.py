"""The kit for Neo4j Browser: style, saved queries and guide, put into a copy of Browser's jar in the cache folder.

So they come from the server's own origin, at `/browser/remembrancer/`, and Browser accepts them without asking anyone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

KIT_PREFIX = "browser/remembrancer/"
SERVED = ("index.html", "kit.js", "style.grass", "guide.html")


def kit_folder() -> Path:
    """The folder `cypher/browser`: inside the package when installed from a wheel, beside `src` in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "cypher" / "browser"
    return inside if inside.is_dir() else package.parent.parent / "cypher" / "browser"


def kit_files() -> dict[str, bytes]:
    """What is served: file names below `/browser/remembrancer/` and their content."""
    folder = kit_folder()
    files = {name: (folder / name).read_bytes() for name in SERVED}
    files["queries.json"] = json.dumps(list(saved_queries().values()), ensure_ascii=False, indent=1).encode()
    return files


def saved_queries() -> dict[str, str]:
    """Each saved query by the name of its file, in that order. Its first line is a comment: Browser's name for it."""
    files = sorted((kit_folder() / "queries").glob("*.cypher"))
    return {path.name: path.read_text(encoding="utf-8").strip() for path in files}


def with_kit(browser_jar: Path) -> Path:
    """Return a copy of Browser's jar that has the kit, made where there is none yet. Several processes may call it."""
    files = kit_files()
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    target = browser_jar.parent.parent / "browser" / f"{browser_jar.stem}-kit-{digest.hexdigest()[:16]}.jar"
    if target.is_file():
        return target
    target.parent.mkdir(exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    shutil.copyfile(browser_jar, part)
    with zipfile.ZipFile(part, "a", zipfile.ZIP_DEFLATED) as jar:
        for name, content in sorted(files.items()):
            jar.writestr(KIT_PREFIX + name, content)
    os.replace(part, target)
    return target
