"""Travelling salesman: the shortest round trip through all places, by simulated annealing with 2-opt moves."""

import argparse
import json
import math
import random
import sys
import time

# The search checks the clock and lowers the temperature once in so many moves.
MOVES_PER_STEP = 100


def anneal(distance, options, report):
    """Returns the best order and its length. `report` receives each better length."""
    generator = random.Random(options.seed)
    count = len(distance)
    order = list(range(count))
    generator.shuffle(order)
    length = sum(distance[order[i - 1]][order[i]] for i in range(count))
    best, best_length = order[:], length
    report(best_length)
    temperature = length / count
    deadline = time.monotonic() + options.duration
    moves = 0
    while count > 3 and moves < options.iterations and time.monotonic() < deadline:
        temperature *= 0.1 ** (MOVES_PER_STEP / options.iterations * 3)
        for _ in range(MOVES_PER_STEP):
            i, j = sorted(generator.sample(range(count), 2))
            if j - i == count - 1:
                continue
            a, b, c, d = order[i - 1], order[i], order[j], order[(j + 1) % count]
            change = distance[a][c] + distance[b][d] - distance[a][b] - distance[c][d]
            if change < 0 or generator.random() < math.exp(-change / temperature):
                order[i : j + 1] = reversed(order[i : j + 1])
                length += change
        moves += MOVES_PER_STEP
        if length < best_length - 1e-9:
            best, best_length = order[:], length
            report(best_length)
    return best, best_length, moves


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-duration", type=float, default=2)
    parser.add_argument("-seed", type=int, default=1)
    parser.add_argument("-iterations", type=int, default=200000)
    options = parser.parse_args()
    places = json.load(sys.stdin)["places"]
    if not places:
        sys.exit("The input has no places; it needs at least one.")
    print(f"Planning a trip through {len(places)} places.", file=sys.stderr)
    distance = [[math.dist(a["location"], b["location"]) for b in places] for a in places]

    started = time.monotonic()
    points = []

    def report(length):
        points.append({"x": round(time.monotonic() - started, 3), "y": round(length, 3)})
        print(json.dumps({"series": {"objective": round(length, 3)}}), file=sys.stderr, flush=True)

    order, length, moves = anneal(distance, options, report)
    json.dump(
        {
            "options": vars(options),
            "solution": {"trip": [places[index]["id"] for index in order]},
            "statistics": {
                "schema": "v1",
                "run": {"duration": round(time.monotonic() - started, 3), "iterations": moves},
                "result": {
                    "value": round(length, 6),
                    "custom": {"places": len(places), "improvements": len(points) - 1},
                },
                # The last points show the end of the search; a chart needs no more.
                "series_data": {"value": {"name": "length", "data_points": points[-200:]}},
            },
        },
        sys.stdout,
    )


main()
