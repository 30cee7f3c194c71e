"""Runs programs of the published client, each in a fork of a process that has imported the client once.

    python client-session.py

The import takes half a second of processor time, a fork some milliseconds. Reads one JSON object per program, on one
line of stdin: `args` with the path of the program, `cwd`, `env` with additional variables, and `stdout` and `stderr`
with the paths of the files for its output. Prints the exit code of the program after its end, one per line.
"""

import json
import os
import runpy
import sys

import nextmv.cli.main
import nextmv.cloud


def serve_requests():
    """Forks for each request. Returns the request in the forked process, and None in the first one after the last."""
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            return request
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def run_program(args, cwd, env, stdout, stderr):
    """Runs the program as the main module of this process."""
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        file = os.open(path, flags, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = args
    sys.path[0] = os.path.dirname(args[0])
    runpy.run_path(args[0], run_name="__main__")


if __name__ == "__main__":
    # The installed packages store their bytecode, but the drivers are in the work tree, which must stay clean.
    sys.dont_write_bytecode = True
    request = serve_requests()
    if request is not None:
        run_program(**request)
