"""A package index on this machine that answers late, as a proxy under load does: one small package."""

import http.server
import io
import threading
import zipfile

NAME = "slow_thing"
WHEEL = NAME + "-1.0-py3-none-any.whl"


def wheel():
    """A package of one module, as bytes."""
    info = NAME + "-1.0.dist-info/"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr(NAME + ".py", "HERE = __file__\n")
        file.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n" % NAME)
        file.writestr(info + "WHEEL",
                      "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(info + "RECORD", "%s.py,,\n%sMETADATA,,\n%sWHEEL,,\n%sRECORD,,\n"
                      % (NAME, info, info, info))
    return data.getvalue()


class SlowIndex:
    """Serves until close(); every answer is `late_s` late."""

    def __init__(self, late_s):
        pages = {"/simple/slow-thing/": ("text/html", b'<a href="/%s">%s</a>'
                                         % (WHEEL.encode(), WHEEL.encode())),
                 "/" + WHEEL: ("application/zip", wheel())}
        asked = self.asked = []
        closing = self.closing = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                closing.wait(late_s)
                kind, body = pages.get(self.path, ("text/plain", b""))
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = "http://127.0.0.1:%d/simple" % self.server.server_port

    def close(self):
        self.closing.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
