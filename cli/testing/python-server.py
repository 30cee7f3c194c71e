"""Runs Python programs in forks of a process that has imported the client. See python-server.ts."""

import io
import os
import runpy
import signal
import socket
import sys
import threading
import traceback

import nextmv.cloud  # noqa: F401
from nextmv.polling import DEFAULT_POLLING_OPTIONS

# The client waits a second before its first look at a run and two to three before the next, but runs of the pages take
# milliseconds.
DEFAULT_POLLING_OPTIONS.initial_delay = 0.2
DEFAULT_POLLING_OPTIONS.delay = 0.2
DEFAULT_POLLING_OPTIONS.backoff = 0
DEFAULT_POLLING_OPTIONS.jitter = 0


class Stream(io.TextIOBase):
    """Sends each text as a record that begins with the letter of the stream."""

    def __init__(self, connection, letter):
        self.connection = connection
        self.letter = letter

    def write(self, text):
        if text:
            self.connection.sendall((self.letter + text + "\0").encode())
        return len(text)


def receive(connection):
    request = b""
    while True:
        count, *parts = request.split(b"\0")
        if len(parts) > int(count or b"9999"):
            return [part.decode() for part in parts[:-1]]
        chunk = connection.recv(65536)
        if not chunk:
            raise EOFError("The request ended early.")
        request += chunk


def run(connection):
    cwd, *rest = receive(connection)
    end = rest.index("")
    arguments = rest[end + 1 :]
    os.environ.update(variable.split("=", 1) for variable in rest[:end])
    os.chdir(cwd)
    sys.argv = arguments
    sys.path.insert(0, cwd)
    sys.stdout, sys.stderr = Stream(connection, "o"), Stream(connection, "e")
    code = 0
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    connection.sendall(f"x{code}\0".encode())


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
# Children are reaped by the kernel.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
threading.Thread(target=end_with_parent, daemon=True).start()
while True:
    accepted, _ = listener.accept()
    if os.fork() == 0:
        listener.close()
        try:
            run(accepted)
        finally:
            accepted.close()
            os._exit(0)
    accepted.close()
