#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies the files that standard input names into a folder, with every mutant of a list: apply.py LIST [FOLDER]

Without FOLDER it says only which mutants do not fit the files, if any. Files that are there as they have to be are left alone:
no more is compiled again than has changed. What else is there, but for build/, is removed. Prints a line NUMBER|FILE|TESTS|TEXT
for each. The list has for each mutant

    FILE | TEST, TEST | what is wrong
    - what stands in FILE, once and within a line
    + what the mutant makes of it

TEST may be "NAME: TEXT": then only those of its cases run that have TEXT in their names. It has to be the only test.

An expression E becomes (stereo_mutant == NUMBER ? (NEW) : (E)), a statement, which ends with ";", a choice of two
statements. Mutants of one file must not overlap."""

import os
import shutil
import sys


def read(path):
    mutants, head, old = [], None, None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith("- ") and head and old is None:
                old = line[2:]
            elif line.startswith("+ ") and old is not None:
                mutants.append((*head, old, line[2:]))
                head = old = None
            elif head is None:
                head = [part.strip() for part in line.split("|")]
                if len(head) != 3:
                    sys.exit(f"{path}:{number}: not FILE | TESTS | text: {line}")
            else:
                sys.exit(f"{path}:{number}: not a line of a mutant: {line}")
    return mutants


def replacement(number, old, new):
    if old.endswith(";"):
        return f"if (stereo_mutant == {number}) {{ {new} }} else {{ {old} }}"
    return f"(stereo_mutant == {number} ? ({new}) : ({old}))"


def places(text, file, mutants):
    """From where to where each mutant of a file stands, the first one first; and what is wrong with the list."""
    found, wrong = [], []
    for number, old, new in mutants:
        if text.count(old) == 1:
            found.append((text.index(old), text.index(old) + len(old), replacement(number, old, new), number))
        else:
            wrong.append(f"mutant {number}: {file} has {text.count(old)} times, not once: {old}")
    found.sort()
    for one, after in zip(found, found[1:]):
        if one[1] > after[0]:
            wrong.append(f"mutants {one[3]} and {after[3]} of {file} overlap")
    return found, wrong


def copy(file, folder, text):
    to = os.path.join(folder, file)
    if os.path.exists(to):
        with open(to, "rb") as there:
            if there.read() == text:
                return
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, "wb") as target:
        target.write(text)
    shutil.copymode(file, to)


def remove_others(folder, files):
    for where, inner, names in os.walk(folder):
        if where == folder and "build" in inner:
            inner.remove("build")
        for name in names:
            path = os.path.join(where, name)
            if os.path.relpath(path, folder) not in files:
                os.remove(path)


def main(path, folder=None):
    mutants, of_file, wrong = read(path), {}, []
    files = {os.path.normpath(file) for file in sys.stdin.read().splitlines()}
    files = {file for file in files if os.path.isfile(file)}
    for number, (file, _, _, old, new) in enumerate(mutants, 1):
        of_file.setdefault(file, []).append((number, old, new))
        if file not in files:
            wrong.append(f"mutant {number}: there is no {file}")
    for file in sorted(files):
        with open(file, "rb") as source:
            text = source.read()
        if file in of_file:
            text = text.decode()
            found, errors = places(text, file, of_file[file])
            wrong += errors
            for begin, end, put_in, _ in reversed(found):
                text = text[:begin] + put_in + text[end:]
            text = text.encode()
        if folder:
            copy(file, folder, text)
    if wrong:
        sys.exit("\n".join(wrong))
    if not folder:
        return
    remove_others(folder, files)
    for number, (file, tests, what, _, _) in enumerate(mutants, 1):
        print(f"{number}|{file}|{tests}|{what}")


main(*sys.argv[1:])
