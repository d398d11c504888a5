# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a running web.py serves: test_web.py URL FOLDER"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

URL, FOLDER = sys.argv[1:3]


def get(path, host=None):
    return urllib.request.urlopen(urllib.request.Request(URL + path, headers={"Host": host} if host else {}), timeout=60)


def pictures(stream, count):
    """JPEGs of a multipart stream."""
    found = []
    while len(found) < count:
        line = stream.readline()
        assert line, "the stream ended"
        if line.startswith(b"Content-Length:"):
            length = int(line.split(b":")[1])
            assert stream.readline() == b"\r\n"
            found.append(stream.read(length))
    return found


def size_of(jpeg):
    """From its frame header."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
    return int.from_bytes(jpeg[at + 7:at + 9], "big"), int.from_bytes(jpeg[at + 5:at + 7], "big")


def newest_picture():
    """One that is not refused for its age, on a machine that may be busy."""
    for _ in range(600):
        try:
            return get("picture.jpg").read()
        except urllib.error.HTTPError as error:
            assert error.code == 503, error
            time.sleep(0.1)
    raise AssertionError("every picture is old")


def check_stream():
    stalled = socket.socket()
    stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)  # full after a few pictures
    stalled.connect((urllib.parse.urlsplit(URL).hostname, urllib.parse.urlsplit(URL).port))
    stalled.sendall(b"GET /stream HTTP/1.0\r\n\r\n")  # and never reads
    streams = [get("stream") for _ in range(3)]
    assert streams[0].headers["Content-Type"].startswith("multipart/x-mixed-replace; boundary="), streams[0].headers
    for stream in streams:
        found = pictures(stream, 12)
        assert all(jpeg[:2] == b"\xff\xd8" and jpeg[-2:] == b"\xff\xd9" for jpeg in found)
        assert {size_of(jpeg) for jpeg in found} == {(160, 120)}
        assert len(set(found)) > 1, "one picture again and again"
        stream.close()
    stalled.close()
    assert size_of(newest_picture()) == (160, 120)


def check_state():
    for _ in range(600):
        state = json.loads(get("state.json").read())
        if state["nearest"] and state["stats"].get("pairs", 0) > 0:
            break
        time.sleep(0.1)
    assert state["stats"]["pairs"] > 0, state
    assert {"valid", "state", "warning"} <= set(state["nearest"]), state


def change(name, value):
    """What is refused, in words."""
    request = urllib.request.Request(URL + "set?" + urllib.parse.urlencode({"name": name, "value": value}), method="POST",
                                     headers={"X-Depth": "set"})
    return json.loads(urllib.request.urlopen(request, timeout=60).read())["refused"]


def wait_for_state(is_right):
    for _ in range(600):
        state = json.loads(get("state.json").read())
        if is_right(state):
            return state
        time.sleep(0.1)
    raise AssertionError(state)


def check_controls():
    """web.sh was started with method=bm cost=zncc, which asw does not take."""
    def method_of(state):
        return next(control["in-force"] for control in state["controls"] if control["name"] == "method")

    for name, value in ("method", "foo"), ("num-disparities", "0"), ("num-disparities", "many"), ("name", "x"), ("threads", "1"), \
            ("preset", "two words"), ("preset", ""), ("p1", "nan"), ("p1", "-1"):
        assert change(name, value), (name, value)
    kinds = {control["name"]: control for control in json.loads(get("state.json").read())["controls"]}
    assert len(kinds) > 25 and list(kinds)[:4] == ["num-disparities", "profile", "method", "fill"], kinds
    for name, value, shown in ("num-disparities", "32", 32), ("window", "7", 7), ("p1", "0.3", 0.3), ("temporal", "0.5", 0.5):
        assert change(name, value) is None, name
        wait_for_state(lambda state: any((one["name"], one["value"], one["in-force"]) == (name, shown, shown) for one in state["controls"]))
    assert change("window", "0") is None
    state = wait_for_state(lambda state: any(one["name"] == "window" and one["value"] == 0 < one["in-force"] for one in state["controls"]))
    assert set(state["words"].split()) >= {"stereomatch", "num-disparities=32", "p1=0.3", "method=bm", "cost=zncc"}, state["words"]
    assert change("preset", "found-here") is None
    assert change("method", "asw") is None
    state = wait_for_state(lambda state: any("zncc" in one["text"] for one in state["trouble"]))
    assert method_of(state) == "bm", state
    pairs = state["stats"].get("pairs", 0)
    wait_for_state(lambda state: state["stats"]["pairs"] not in (0, pairs) and not state["old"])


def check_errors():
    for path, host, status in ("../../etc/passwd", None, 404), ("state.json", "evil.example", 421):
        try:
            get(path, host)
        except urllib.error.HTTPError as error:
            assert error.code == status, error
        else:
            raise AssertionError(f"{path} is served to who asks {host} for it")
    assert get("state.json", "rig.example").status == 200, "--allow was forgotten"


def check_browser():
    browser = shutil.which("chromium")
    if not browser:
        print("browser: SKIP: there is no chromium")
        return
    shot = os.path.join(FOLDER, "page.html")
    with open(shot, "wb") as out:
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        f"--user-data-dir={FOLDER}/profile", "--virtual-time-budget=3000", "--timeout=4000", "--dump-dom", URL],
                       stdout=out, stderr=subprocess.DEVNULL, timeout=60, check=True)
    with open(shot, encoding="utf-8") as page:
        text = page.read()
    for words in '"pairs":', "depths a second", 'id="set-num-disparities"':
        assert words in text, (words, text)
    assert "no state yet" not in text and re.search(r'class="(near|clear|unknown)">[A-Z]', text), text
    print("browser: the page shows the state")


check_stream()
check_state()
check_controls()
check_errors()
check_browser()
