# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every link between installed documents leads to a file: installed_links.py BUILD FOLDER"""
import os
import re
import subprocess
import sys

BUILD, FOLDER = sys.argv[1:3]
subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet"], check=True, stdout=subprocess.DEVNULL,
               env={**os.environ, "DESTDIR": FOLDER})
documents = [os.path.join(root, name) for root, _, names in os.walk(FOLDER) for name in names if name.endswith(".md")]
assert len(documents) > 15, documents
broken = [f"{document}: {link}" for document in documents
          for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", open(document, encoding="utf-8").read())
          if not os.path.exists(os.path.join(os.path.dirname(document), link))]
sys.exit("\n".join(broken) or 0)
