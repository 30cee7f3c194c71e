"""Shared set-up of the drivers: how they poll, push apps, read refusals and print their result.

Every driver takes the address and the key of the server from NEXTMV_ENDPOINT and NEXTMV_API_KEY.
"""

import contextlib
import json
import os
import sys
import tempfile

import requests
from nextmv.polling import PollingOptions


def polling_options(delay=0.1, max_duration=60):
    """Polling without jitter. The first delay is half of `delay`, all in seconds."""
    return PollingOptions(
        initial_delay=delay / 2,
        delay=delay,
        backoff=0.02,
        jitter=0,
        max_delay=delay * 5,
        max_duration=max_duration,
    )


def write_files(files, folder):
    """Writes the texts by file name into the folder, and returns the folder."""
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    return folder


def push_files(app, files):
    """Pushes an app that consists of the texts by file name."""
    with tempfile.TemporaryDirectory() as folder:
        app.push(app_dir=write_files(files, folder))


def refusal_status(call):
    """Returns the status of the response that refused the call; None if the server did not refuse it."""
    try:
        call()
    except requests.HTTPError as error:
        return error.response.status_code
    return None


def print_result(compute):
    """Prints the result of the function as JSON. Output of the client goes to stderr, because stdout has only the result."""
    with contextlib.redirect_stdout(sys.stderr):
        result = compute()
    json.dump(result, sys.stdout)
