# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every link between installed documents leads to a file: installed_links.py FOLDER [BUILD]

BUILD is installed there first.
"""
import os
import re
import subprocess
import sys

FOLDER = sys.argv[1]
if len(sys.argv) > 2:
    subprocess.run(["meson", "install", "-C", sys.argv[2], "--no-rebuild", "--quiet"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": FOLDER})
documents = [os.path.join(root, name) for root, _, names in os.walk(FOLDER) for name in names if name.endswith(".md")]
assert len(documents) > 15, documents
broken = [f"{document}: {link}" for document in documents
          for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", open(document, encoding="utf-8").read())
          if not os.path.exists(os.path.join(os.path.dirname(document), link))]
sys.exit("\n".join(broken) or 0)
