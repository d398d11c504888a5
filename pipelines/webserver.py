# SPDX-License-Identifier: LGPL-2.1-or-later
"""The HTTP part of web.py: a page, a stream of JPEGs (Motion JPEG), the newest JPEG, and the state as JSON. No GStreamer.

Each client has a thread and takes the newest picture when it has sent the last one, so that a slow client misses pictures and
holds nothing up.

A page of another site can have its own name resolved to this machine (DNS rebinding), and its script would then read what is
served here as its own: requests have to call this server by a name or an address that is its own. GET changes nothing. POST /set
changes a setting; it needs a header that a page of another site cannot send, and comes from this machine, unless others are let in.
"""
import io
import ipaddress
import json
import os
import re
import socket
import socketserver
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_STREAMS = 16  # each wants the whole stream of the network
MAX_CLIENTS = 64  # each has a thread; browsers ask for the state while they watch
OLDEST = 1  # second that a picture and a message hold: what is older is served as old, or not at all
TIMEOUT = 10  # seconds that a client may take for a picture, and that it waits for one
REQUEST_TIME = 10  # seconds that a client may take for all of a request
REQUEST_BYTES = 1 << 14  # of all of a request; those of browsers have some hundreds
BOUNDARY = "picture"

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.html")


def at_age(nearest, age):
    """@nearest, a message of @age seconds, as it may be served: what is old is not known any more."""
    if not nearest or age <= OLDEST:
        return nearest
    reason = f"the depth is {int(age)} s old" if age < float("inf") else "no depth comes"
    return {**nearest, "state": "unknown", "reason": reason, "warning": False, "valid": False,
            "distance": None, "disparity": None}


class Hub:
    """The newest picture, for any number of clients. Giving one in never waits for a client."""

    def __init__(self, clock=time.monotonic):
        self.clock, self.came = clock, None  # when the newest picture came
        self.changed = threading.Condition()
        self.number, self.picture, self.closed = 0, None, False

    def put(self, picture):
        with self.changed:
            self.number, self.picture, self.came = self.number + 1, picture, self.clock()
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def age(self):
        """Of the newest picture, in seconds; None before the first one."""
        with self.changed:
            return None if self.came is None else self.clock() - self.came

    def after(self, number, timeout=TIMEOUT):
        """Number and bytes of a picture newer than @number; (number, None): none came, or the stream is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self.number > number, timeout)
            return (number, None) if self.closed or self.number <= number else (self.number, self.picture)


def host_of(value):
    """Of a header Host, the name without its port, or the address; None where it is neither."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]{1,255})(:[0-9]{1,5})?", value.strip().lower())
    return found[1].strip("[]").rstrip(".") if found else None


def is_loopback(host):
    try:
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Handler(BaseHTTPRequestHandler):
    timeout = TIMEOUT  # of its socket: a client that does not read is let go

    def handle(self):
        """One request. It has to be here in REQUEST_TIME, however it is spread over that."""
        self.close_connection, self.requestline, self.command = True, "", ""
        self.request_version = "HTTP/1.0"
        try:
            request = self.read_request()
            self.connection.settimeout(TIMEOUT)
            if request is None:
                self.send_error(408, explain=f"The request was not complete after {REQUEST_TIME} seconds")
            elif len(request) > REQUEST_BYTES:
                self.send_error(431, explain=f"The request has more than {REQUEST_BYTES} bytes")
            else:
                self.rfile.close()
                self.rfile = io.BytesIO(request)
                self.handle_one_request()
        except (ConnectionError, socket.timeout):
            pass  # the client has gone, or is too slow

    def read_request(self):
        """All of it, which ends with an empty line; None: its time is over."""
        until, request = self.server.clock() + REQUEST_TIME, b""
        while not re.search(rb"\r?\n\r?\n", request) and len(request) <= REQUEST_BYTES:
            left = until - self.server.clock()
            if left <= 0:
                return None
            self.connection.settimeout(left)
            try:
                part = self.connection.recv(4096)
            except socket.timeout:
                return None
            if not part:
                break
            request += part
        return request

    def is_called_by_its_name(self):
        """Whether a browser that shows a page of somebody else cannot have sent this; else it has been answered."""
        hosts = self.headers.get_all("Host", [])
        if not hosts and self.request_version == "HTTP/1.0":
            return True  # from the days before the header: no browser
        host = host_of(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            self.send_error(400, explain="One header Host is wanted, with a name or an address")
        elif is_loopback(host) or host == self.connection.getsockname()[0] or host in self.server.names:
            return True
        else:
            self.send_error(421, explain=f"{host} is not a name of this server. Open it by its address, "
                            f"http://{self.connection.getsockname()[0]}:{self.server.server_port}/, "
                            f"or start it with --allow {host}")
        return False

    def do_GET(self):
        if not self.is_called_by_its_name():
            return
        ways = {"/": self.send_page, "/stream": self.send_stream, "/picture.jpg": self.send_picture,
                "/state.json": self.send_state, "/depth": self.send_depth, "/at": self.send_at}
        way = ways.get(self.path.split("?")[0])
        if not way:
            self.send_error(404, "Not here: there are " + ", ".join(ways))
            return
        way()

    def do_POST(self):
        if not self.is_called_by_its_name():
            return
        path, _, query = self.path.partition("?")
        if path != "/set" or not self.server.change:
            self.send_error(404, "Not here: there is /set?name=...&value=...")
        elif self.headers.get("X-Depth") != "set":
            self.send_error(403, "Not from here", "The header X-Depth: set is wanted, so that no page of another site can do this")
        elif not (self.server.remote or is_loopback(self.client_address[0])):
            self.send_error(403, "Not from here", "Only the machine itself changes settings; web.sh --control lets others")
        else:
            words = dict(urllib.parse.parse_qsl(query))
            refused = self.server.change(words.get("name", ""), words.get("value", ""))
            self.send_bytes("application/json", json.dumps({"refused": refused}).encode())

    def send_bytes(self, kind, data):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Frame-Options", "DENY")  # no page of another site puts the controls under a click of its own
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.end_headers()
        self.wfile.write(data)

    def send_page(self):
        with open(PAGE, "rb") as page:
            self.send_bytes("text/html; charset=utf-8", page.read())

    def send_state(self):
        age = self.server.hub.age()
        state = {**self.server.state(), "picture-age": age, "old": age is None or age > OLDEST}
        self.send_bytes("application/json", json.dumps(state).encode())

    def send_picture(self):
        picture = self.server.hub.after(0)[1]
        age = self.server.hub.age()
        if picture and age > OLDEST:
            self.send_error(503, f"No picture for {int(age)} s")
        elif picture:
            self.send_bytes("image/jpeg", picture)
        else:
            self.send_error(503, "No picture came from the cameras")

    def send_at(self):
        words = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
        try:
            across, down = (float(words.get(name, "")) for name in "xy")
        except ValueError:
            across = -1
        if not (self.server.at and 0 <= across <= 1 and 0 <= down <= 1):
            self.send_error(400, explain="x and y are shares of the picture's width and height, 0 to 1")
            return
        self.send_bytes("application/json", json.dumps(self.server.at(across, down)).encode())

    def send_depth(self):
        self.send_stream(self.server.depth)

    def send_stream(self, hub=None):
        hub = hub or self.server.hub
        if not self.server.streams.acquire(blocking=False):
            self.send_error(503, f"{MAX_STREAMS} clients are watching already")
            return
        try:
            # what the system holds for a slow client would be old pictures
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
            self.send_response(200)
            self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            number, picture = hub.after(0)
            while picture:
                self.wfile.write(f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n".encode()
                                 + picture + b"\r\n")
                number, picture = hub.after(number)
        finally:
            self.server.streams.release()

    def log_message(self, *_):
        pass  # two lines a second for each client


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = MAX_CLIENTS

    def __init__(self, address, port, hub, state, names=(), clock=time.monotonic, change=None, remote=False,
                 depth=None, at=None):
        """@state: called by any thread, gives what becomes JSON. @names: by which browsers may call this machine, besides its
        own, localhost and addresses. @change: called by any thread with name and value of a setting, gives a sentence where it
        is refused. @remote: other machines may call it, too. @depth: the Hub of a second stream. @at: called by any thread with
        two shares of the picture, gives what is known there. OSError: one cannot listen at the address."""
        self.change, self.remote, self.depth, self.at = change, remote, depth or hub, at
        self.hub, self.state, self.streams = hub, state, threading.BoundedSemaphore(MAX_STREAMS)
        self.clients, self.clock = threading.BoundedSemaphore(MAX_CLIENTS), clock
        self.names = {name.lower().rstrip(".") for name in (socket.gethostname(), address, *names)}
        super().__init__((address, port), Handler)

    def server_bind(self):
        """Without http.server's look-up of the host's name, which may wait for a network."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def process_request(self, request, client_address):
        if self.clients.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        try:  # this thread is everybody's: the few bytes fit into what the system holds for the client, or are not sent
            request.setblocking(False)
            request.send(b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: text/plain\r\n\r\n"
                         + f"{MAX_CLIENTS} clients are there already\n".encode())
        except OSError:
            pass
        self.shutdown_request(request)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.clients.release()

    def start(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that has gone

    def stop(self):
        self.hub.close()
        self.depth.close()
        self.shutdown()
        self.server_close()
