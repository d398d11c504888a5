#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts every mutant of a list into a copy of the sources: apply.py LIST FOLDER

Prints a line NUMBER|FILE|TESTS|TEXT for each. The list has for each mutant

    FILE | TEST, TEST | what is wrong
    - what stands in FILE, once
    + what the mutant makes of it

An expression E becomes (stereo_mutant == NUMBER ? (NEW) : (E)), a statement, which ends with ";", a choice of two
statements. Mutants of one file must not overlap."""

import os
import sys


def read(path):
    mutants, head, old = [], None, None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith("- "):
                old = line[2:]
            elif line.startswith("+"):
                mutants.append((head, old, line[2:]))
            else:
                head = [part.strip() for part in line.split("|")]
                if len(head) != 3:
                    sys.exit(f"{path}:{number}: not FILE | TESTS | text: {line}")
    return mutants


def put(folder, number, file, old, new):
    path = os.path.join(folder, file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.count(old) != 1:
        sys.exit(f"mutant {number}: {file} has {text.count(old)} times: {old}")
    if old.endswith(";"):
        put_in = f"if (stereo_mutant == {number}) {{ {new} }} else {{ {old} }}"
    else:
        put_in = f"(stereo_mutant == {number} ? ({new}) : ({old}))"
    with open(path, "w", encoding="utf-8") as source:
        source.write(text.replace(old, put_in))


for number, ((file, tests, what), old, new) in enumerate(read(sys.argv[1]), 1):
    put(sys.argv[2], number, file, old, new)
    print(f"{number}|{file}|{tests}|{what}")
