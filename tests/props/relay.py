"""A TCP relay that a test can make ill: silent in one or both directions (bytes wait, as in a network
that loses packets and heals), cut (every connection is reset and what waited is lost), refusing, slow.

    with Relay("127.0.0.1:7411") as relay:
        relay.silence(to_server=True, to_client=True)
        relay.heal()
        relay.cut()

Thread-safe. Only Python's standard library.
"""

import contextlib
import socket
import struct
import threading


class Relay:
    def __init__(self, server: str):
        host, _, port = server.rpartition(":")
        self._server = (host, int(port))
        self._changed = threading.Condition()
        self._silent = {"to_server": False, "to_client": False}
        self._delay_s = 0.0
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._open = True
        self.connections = 0  # accepted so far
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_) -> None:
        self._open = False
        self._listener.close()
        self.heal()
        self.cut()

    def silence(self, to_server: bool = False, to_client: bool = False) -> None:
        """Nothing passes in these directions; connections stay, new ones are accepted."""
        with self._changed:
            self._silent = {"to_server": to_server, "to_client": to_client}

    def heal(self) -> None:
        with self._changed:
            self._silent = {"to_server": False, "to_client": False}
            self._delay_s = 0.0
            self._changed.notify_all()

    def delay(self, seconds: float) -> None:
        """Every piece of data waits this long, in both directions."""
        self._delay_s = seconds

    def cut(self) -> None:
        """Resets every connection; what was on its way is lost."""
        with self._changed:
            pairs, self._pairs = self._pairs, set()
            self._changed.notify_all()
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.shutdown(socket.SHUT_RDWR)  # wakes whoever reads it
                end.close()

    def _accept(self) -> None:
        while self._open:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server, timeout=5)
            except OSError:
                if self._open:
                    with contextlib.suppress(OSError, UnboundLocalError):
                        client.close()
                    continue
                return
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changed:
                self.connections += 1
                pair = (client, server)
                self._pairs.add(pair)
            for way, source, sink in (("to_server", client, server), ("to_client", server, client)):
                threading.Thread(target=self._pump, args=(way, source, sink, pair), daemon=True).start()

    def _pump(self, way: str, source: socket.socket, sink: socket.socket, pair) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(64 << 10):
                if self._delay_s > 0:
                    threading.Event().wait(self._delay_s)
                with self._changed:
                    while self._silent[way] and pair in self._pairs:
                        self._changed.wait()
                    if pair not in self._pairs:
                        return
                sink.sendall(data)
        with self._changed:
            # The end of a connection does not pass a silent network either.
            while self._silent[way] and pair in self._pairs:
                self._changed.wait()
            self._pairs.discard(pair)
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
