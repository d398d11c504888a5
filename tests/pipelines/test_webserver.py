# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients that webserver.py must not believe or wait for: test_webserver.py FOLDER_OF_THE_SCRIPTS. Its clock is made here."""
import json
import socket
import sys
import threading

sys.path.insert(0, sys.argv[1])
import webserver  # noqa: E402

GIVEN_UP = 60  # seconds: an answer that does not come is a failure
webserver.REQUEST_TIME = 1000  # seconds of the clock that is made here; more than this test takes on a busy machine
STATE = {"nearest": None, "stats": {"pairs": 7}}


class Clock:
    """Passes only when it is told to. The server asks it before each read."""

    def __init__(self):
        self.now, self.asked, self.change = 0.0, 0, threading.Condition()

    def __call__(self):
        with self.change:
            self.asked += 1
            self.change.notify_all()
            return self.now

    def pass_by(self, seconds):
        with self.change:
            self.now += seconds

    def wait_for_questions(self, number):
        with self.change:
            assert self.change.wait_for(lambda: self.asked >= number, GIVEN_UP), "the server does not read"


def serve(*names, address="127.0.0.1"):
    server = webserver.Server(address, 0, webserver.Hub(), lambda: STATE, names, Clock())
    server.start()
    return server


def connect(server):
    return socket.create_connection(("127.0.0.1", server.server_port), timeout=GIVEN_UP)


def answer_of(client):
    """Status and body."""
    data = b""
    while True:
        part = client.recv(4096)
        if not part:
            break
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1."), data
    return int(head.split()[1]), body.decode()


def ask(server, lines, path="/state.json", method="GET", version="1.1"):
    with connect(server) as client:
        client.sendall("\r\n".join([f"{method} {path} HTTP/{version}", *lines, "", ""]).encode())
        return answer_of(client)


def check_hosts():
    server = serve("Rig.Example", "203.0.113.9")
    port = server.server_port
    for host in ("localhost", f"LocalHost:{port}", "localhost.", "a.localhost:1", "127.0.0.1", f"127.0.0.1:{port}", "127.8.8.8",
                 "[::1]:80", "rig.example", f"rig.example:{port}", "203.0.113.9", socket.gethostname()):
        status, body = ask(server, [f"Host: {host}"])
        state = json.loads(body)
        assert status == 200 and {**state, **STATE} == state, (host, status, body)
    for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost",
                 "198.51.100.7", "[2001:db8::1]:80", "rig.example.evil"):
        for path in ("/", "/stream", "/picture.jpg", "/state.json", "/none"):
            status, body = ask(server, [f"Host: {host}"], path)
            assert status == 421 and "pairs" not in body, (host, path, status, body)
            assert "is not a name of this server" in body and "--allow" in body, body
    for lines in ([], ["Host:"], ["Host: a b"], ["Host: <script>"], ["Host: localhost", "Host: evil.example"],
                  ["Host: localhost\r\n evil.example"], ["Host: user@localhost"], ["Host: localhost/"]):
        status, body = ask(server, lines)
        assert status == 400 and "pairs" not in body and "<script>" not in body, (lines, status, body)
    assert ask(server, [], version="1.0")[0] == 200
    assert ask(server, ["Host: evil.example"], version="1.0")[0] == 421
    server.stop()


def own_address():
    """Of this machine, one that is not loopback; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        return probe.getsockname()[0]


def check_changes():
    """A setting is changed by a page of this server on this machine alone, unless others are let in."""
    asked = []
    server = webserver.Server("0.0.0.0", 0, webserver.Hub(), lambda: STATE, (), Clock(),
                              lambda name, value: asked.append((name, value)) or "no")
    server.start()
    own, where = ["Host: localhost", "Content-Length: 0", "X-Depth: set"], "/set?name=fill&value=none&other=1"
    assert ask(server, own, where, "POST") == (200, '{"refused": "no"}') and asked == [("fill", "none")], asked
    assert ask(server, own, "/set", "POST")[0] == 200 and asked[1:] == [("", "")], asked
    for lines, path, method, wanted in ((own[:2], where, "POST", 403), (own[:2] + ["X-Depth: no"], where, "POST", 403),
                                        (["Host: evil.example"] + own[1:], where, "POST", 421), (own, "/state.json", "POST", 404),
                                        (own, where, "GET", 404), (own, where, "PUT", 501), (own, where, "OPTIONS", 501)):
        assert ask(server, lines, path, method)[0] == wanted and len(asked) == 2, (lines, path, method, asked)
    address = own_address()
    if address and not webserver.is_loopback(address):
        for remote, wanted in (False, 403), (True, 200):
            server.remote = remote
            with socket.create_connection((address, server.server_port), timeout=GIVEN_UP) as client:
                client.sendall("\r\n".join([f"POST {where} HTTP/1.1", *own, "", ""]).encode())
                assert answer_of(client)[0] == wanted, remote
        assert len(asked) == 3
    server.stop()


def check_methods():
    """Nothing can be changed without a POST, nor where nothing is to be changed."""
    server = serve()
    assert ask(server, ["Host: localhost", "X-Depth: set"], "/set?name=fill&value=none", "POST")[0] == 404
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"):
        status, _ = ask(server, ["Host: localhost", "Origin: http://evil.example", "Content-Length: 0"], method=method)
        assert status == 501, (method, status)
    server.stop()


def check_dripping():
    """A byte now and then is no request when the time is over, however often one comes."""
    server = serve()
    with connect(server) as client:
        for number, byte in enumerate(b"GET"):
            server.clock.wait_for_questions(number + 2)  # one when it begins
            server.clock.pass_by(400)
            client.sendall(bytes([byte]))
        status, body = answer_of(client)
        assert status == 408 and "1000 seconds" in body, (status, body)
    # one that is slow and in time
    asked = server.clock.asked
    with connect(server) as client:
        for number, part in enumerate((b"GET /state.json HT", b"TP/1.0\r\n\r\n")):
            server.clock.wait_for_questions(asked + number + 2)
            server.clock.pass_by(400)
            client.sendall(part)
        assert answer_of(client)[0] == 200
    server.stop()


def check_silence():
    """A client that says nothing at all: the socket's own time."""
    webserver.REQUEST_TIME, kept = 0.05, webserver.REQUEST_TIME
    server = serve()
    with connect(server) as client:
        assert answer_of(client)[0] == 408
    server.stop()
    webserver.REQUEST_TIME = kept


def check_size():
    server = serve()
    start = b"GET /state.json HTTP/1.1\r\nHost: localhost\r\nX: "
    for spare, wanted in ((0, 200), (-1, 431)):
        with connect(server) as client:
            client.sendall(start + b"x" * (webserver.REQUEST_BYTES - len(start) - 4 - spare) + b"\r\n\r\n")
            status, _ = answer_of(client)
            assert status == wanted, (spare, status)
    server.stop()


def check_clients():
    """One more than there may be is told so; when one has gone, there is room again."""
    webserver.MAX_CLIENTS = 5
    server = serve()
    clients = [connect(server) for _ in range(webserver.MAX_CLIENTS)]
    # each has its thread, which waits for a request
    server.clock.wait_for_questions(2 * webserver.MAX_CLIENTS)
    with connect(server) as late:
        assert answer_of(late)[0] == 503
    clients[0].sendall(b"GET /state.json HTTP/1.0\r\n\r\n")
    assert answer_of(clients[0])[0] == 200
    server.clients.acquire(timeout=GIVEN_UP)  # its thread ends behind the answer
    server.clients.release()
    assert ask(server, ["Host: localhost"])[0] == 200
    for client in clients:
        client.close()
    server.stop()


def check_other_addresses():
    """At all addresses, names of others are refused just the same."""
    server = serve(address="0.0.0.0")
    assert ask(server, ["Host: 127.0.0.1"])[0] == 200
    assert ask(server, ["Host: evil.example"])[0] == 421
    server.stop()


for check in (check_hosts, check_changes, check_methods, check_dripping, check_silence, check_size, check_clients, check_other_addresses):
    check()
    print("ok", check.__name__)
