"""Records for each method, command and tool of the published client if its calls succeeded.

A name that no call reached stays None. The test compares the record with the table in COVERAGE.md.
"""

import contextlib
import functools
import inspect
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

MAIN = """#!/bin/sh
input=$(cat)
statistics='"statistics": {"schema": "v1", "result": {"value": 7}},'
case "$input" in
  *wait*) sleep 600 ;;
  # The client compares runs without nested numbers only.
  *flat*) statistics= ;;
esac
echo solving >&2
cat <<END
{
  "solution": {"stops": [1, 2]},
  $statistics
  "metrics": {"value": 7},
  "assets": [{"name": "chart", "content_type": "json", "content": {"type": "bar", "data": {"labels": ["a"]}},
              "visual": {"schema": "chartjs", "label": "Chart", "type": "custom-tab"}}]
}
END
"""

# A shell script, because its runs take a fraction of the time of a Python app.
APP = {
    "app.yaml": "type: binary\nruntime: ghcr.io/nextmv-io/runtime/default:latest\nfiles:\n  - main\n"
    "configuration:\n  options:\n    items:\n      - {name: factor, option_type: int, default: 1}\n",
    "main": MAIN,
}

WORKS = ""


class Recorder:
    """The outcome of each name: WORKS, the text of the first failure, or None when nothing called it."""

    def __init__(self, names):
        self.outcomes = dict.fromkeys(names)
        self.last = None
        self._depth = 0

    def record(self, name, failure):
        """Notes one call. The first failure of a name remains."""
        self.last = name
        self.outcomes[name] = self.outcomes.get(name) or failure

    def wrap(self, name, function):
        """Returns the function so that calls by the script, and not those of the client itself, are recorded."""

        @functools.wraps(function)
        def recorded(*args, **kwargs):
            if self._depth > 0:
                return function(*args, **kwargs)
            self._depth += 1
            try:
                value = function(*args, **kwargs)
                if inspect.isgenerator(value):
                    value = list(value)
            except Exception as error:
                self.record(name, describe(error))
                raise
            finally:
                self._depth -= 1
            self.record(name, WORKS)
            return value

        return recorded

    def attempt(self, call, check=None):
        """Returns the value of the call, or None when it failed. `check` returns False for a wrong value."""
        with contextlib.suppress(Exception):
            value = call()
            if check is not None and not check(value):
                self.record(self.last, f"unexpected value: {value!r}"[:500])
            return value
        return None


def describe(error):
    """Returns one line about the error."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
