"""Webhook receivers on loopback sockets. Each test defines how its receiver behaves."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"


@dataclass
class Receiver:
    """A running receiver.

    Attributes:
        requests: the bytes read from each connection.
        connections: the number of accepted connections.
        ended: an event that is set at the end of the test, so that a waiting behaviour returns.
    """

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def read_request(self, connection: socket.socket) -> bytes:
        """Read a request with its body, record it and return it."""
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(65536) or b"\r\n\r\n"
        head, _, body = request.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ),
            0,
        )
        while len(body) < length and (chunk := connection.recv(65536)):
            body += chunk
        self.requests.append(head + b"\r\n\r\n" + body)
        return self.requests[-1]

    def trickle(self, connection: socket.socket, data: bytes, pause_s: float = 0.01) -> None:
        """Send the data byte by byte until the test ends or the client closes the connection."""
        for byte in data:
            if self.ended.wait(pause_s):
                return
            connection.sendall(bytes([byte]))


@contextlib.contextmanager
def receiving(
    behave: Callable[[Receiver, socket.socket], None], tls: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """Run a receiver that handles each connection with this behaviour in a separate thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    receiver = Receiver(listener.getsockname()[1])
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        # Ignore errors of the receiver, because the test checks only the sender.
        with contextlib.suppress(OSError), connection:
            connection.settimeout(5)
            if tls is None:
                behave(receiver, connection)
                return
            with tls.wrap_socket(connection, server_side=True) as secured:
                behave(receiver, secured)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            receiver.connections += 1
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        # Shut the socket down first: close() does not end a blocked accept().
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for thread in threads:
            thread.join(5)
            assert not thread.is_alive()


def responding_with(response: bytes) -> Callable[[Receiver, socket.socket], None]:
    """Return a behaviour that reads a request and sends this response."""

    def behave(receiver: Receiver, connection: socket.socket) -> None:
        receiver.read_request(connection)
        connection.sendall(response)

    return behave


def reset(connection: socket.socket) -> None:
    """Close the connection with a TCP reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
