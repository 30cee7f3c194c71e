"""The best selection found so far, the clock, and the statistics made of both."""

import json
import sys
import time
from typing import Callable, List, Optional, Tuple

# A statistics block is ignored beyond 10 kB; this many points stay well below.
POINTS_MAXIMUM = 100


class Incumbent:
    """Values only rise: `offer` ignores whatever is not better than what is held."""

    def __init__(self, duration: float, stop_requested: Callable[[], bool]):
        self.started_at = time.monotonic()
        self.duration = duration
        self.stop_requested = stop_requested
        self.value: Optional[float] = None
        self.chosen: Tuple[int, ...] = ()
        self.bound = float("inf")
        self.improved_at = 0.0
        self.points: List[Tuple[float, float]] = []

    def seconds(self) -> float:
        return time.monotonic() - self.started_at

    def out_of_time(self, share: float = 1.0) -> bool:
        return self.stop_requested() or self.seconds() >= self.duration * share

    def is_better(self, value: float) -> bool:
        return self.value is None or value > self.value + 1e-9

    def is_open(self) -> bool:
        """Whether the bound leaves room for anything better."""
        return self.value is None or self.bound > self.value + 1e-7

    def offer(self, value: float, chosen) -> None:
        if not self.is_better(value):
            return
        self.value = value
        self.chosen = tuple(chosen)
        self.improved_at = self.seconds()
        self.points.append((self.improved_at, value))
        self.say()

    def say(self, note: str = "") -> None:
        value = "none" if self.value is None else f"{self.value:.2f}"
        bound = "unknown" if self.bound == float("inf") else f"{self.bound:.2f}"
        print(f"{self.seconds():8.2f} s  value {value}  bound {bound}{note}", file=sys.stderr, flush=True)
        if self.value is not None:
            print(json.dumps({"series": self.series()}), file=sys.stderr, flush=True)

    def series(self) -> dict:
        """The numbers that the platform draws while the run is active."""
        numbers = {"objective": round(self.value, 6)}
        if self.bound != float("inf"):
            numbers["bound"] = round(self.bound, 6)
            numbers["gap"] = round((self.bound - self.value) / self.bound, 6) if self.bound > 0 else 0
        return numbers

    def statistics(self, custom: dict, iterations: int) -> dict:
        """The v1 block; `value` is left out when there is no selection."""
        step = max(1, -(-len(self.points) // POINTS_MAXIMUM))
        last = len(self.points) - 1
        kept = [point for index, point in enumerate(self.points) if index % step == 0 or index == last]
        result = {"duration": round(self.improved_at, 6), "custom": custom}
        if self.value is not None:
            result["value"] = round(self.value, 6)
        return {
            "schema": "v1",
            "run": {"duration": round(self.seconds(), 6), "iterations": iterations},
            "result": result,
            "series_data": {
                "value": {
                    "name": "incumbent",
                    "data_points": [{"x": round(x, 6), "y": round(y, 6)} for x, y in kept],
                }
            },
        }
