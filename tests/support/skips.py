#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the tests that were skipped, each with the reason that it gave: skips.py TESTLOG.json

A test that is skipped says why in the last line that is no count."""

import json
import re
import sys

COUNTS = re.compile(r"^(seed=\d+|\d+ passed, \d+ failed, \d+ skipped|)$")


def reason(test):
    lines = (test.get("stdout", "") + "\n" + test.get("stderr", "")).splitlines()
    lines = [line.strip() for line in lines if not COUNTS.match(line.strip())]
    named = [line for line in lines if "skip" in line.lower()]
    return (named or lines or ["it gave no reason"])[-1]


with open(sys.argv[1], encoding="utf-8") as log:
    for line in log:
        test = json.loads(line)
        if test["result"] == "SKIP":
            print(f"skipped: {test['name']}: {reason(test)}")
