"""Foreign clients at a run's rendezvous: browsers, scanners, and clients that speak the protocol of c10d's
TCPStore and write into it."""

import contextlib
import os
import socket
import struct
import threading
import time

VALIDATE, SET, ADD, DELETE, GET, CHECK = 0, 1, 4, 8, 3, 5
MAGIC = 0x3C85F7CE
HELLOS = {"http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
          "tls": bytes.fromhex("16030100a5010000a10303") + bytes(160),
          "noise": os.urandom(4096),
          "length": struct.pack("<BIBQ", VALIDATE, MAGIC, SET, 1 << 62)}


def connect(port: int, seconds: float = 10) -> socket.socket | None:
    """Connects once somebody listens; nothing if nobody does in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), timeout=5)
        time.sleep(0.005)
    return None


class Client:
    """A client that knows the protocol, and the keys of a run."""

    def __init__(self, connection: socket.socket):
        self.connection = connection
        self.connection.sendall(struct.pack("<BI", VALIDATE, MAGIC))

    @staticmethod
    def bytes_of(data: bytes) -> bytes:
        return struct.pack("<Q", len(data)) + data

    def key(self, name: str) -> bytes:
        return self.bytes_of(f"/titan/0/{name}".encode())

    def set(self, name: str, value: bytes) -> None:
        self.connection.sendall(bytes([SET]) + self.key(name) + self.bytes_of(value))

    def add(self, name: str, amount: int) -> int:
        self.connection.sendall(bytes([ADD]) + self.key(name) + struct.pack("<q", amount))
        return struct.unpack("<q", self.receive(8))[0]

    def delete(self, name: str) -> None:
        self.connection.sendall(bytes([DELETE]) + self.key(name))
        self.receive(8)

    def has(self, name: str) -> bool:
        self.connection.sendall(bytes([CHECK]) + struct.pack("<Q", 1) + self.key(name))
        return self.receive(1) == b"\0"

    def get(self, name: str) -> bytes:
        self.connection.sendall(bytes([GET]) + self.key(name))
        return self.receive(struct.unpack("<Q", self.receive(8))[0])

    def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.connection.recv(size - len(data))
            if not part:
                raise OSError("closed")
            data += part
        return data


@contextlib.contextmanager
def listener(behaviour: str):
    """A program at a port that is no rendezvous: it is silent, closes, or answers like a web server."""
    server = socket.create_server(("127.0.0.1", 0))
    connections = []

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                if behaviour == "http":
                    with contextlib.suppress(OSError):
                        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                if behaviour == "silent":
                    connections.append(connection)
                else:
                    connection.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.close()
        for connection in connections:
            connection.close()
