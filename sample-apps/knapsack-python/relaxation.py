"""Prices for the resources, and the bound that they prove.

For any prices of at least zero, paying for what an item uses out of its value and getting the price of all capacity
back never undervalues the best selection: sum(price * capacity) + sum(max(0, value - price of what it uses)). The
subgradient method looks for the prices with the least such bound.
"""

from dataclasses import dataclass
from typing import Callable, List, Sequence


@dataclass(frozen=True)
class Relaxation:
    prices: Sequence[float]
    # Value of each item less the price of what it uses: above zero means "worth taking".
    reduced: Sequence[float]
    bound: float


def relax(
    values: Sequence[float],
    uses: Sequence[Sequence[float]],
    capacities: Sequence[float],
    target: float,
    out_of_time: Callable[[], bool],
) -> Relaxation:
    """The best prices found. `target` is the value of a known selection: it sets the length of the steps."""
    count = len(capacities)
    # Resources are scaled to a capacity of 1, so that one step length suits all of them.
    scale = [capacity if capacity > 0 else 1.0 for capacity in capacities]
    scaled = [[use / s for use, s in zip(row, scale)] for row in uses]
    limits = [capacity / s for capacity, s in zip(capacities, scale)]
    prices = [0.0] * count
    best = _price(values, scaled, limits, prices)
    step, stale = 1.0, 0
    for _ in range(400):
        current = _price(values, scaled, limits, prices)
        if current.bound < best.bound - 1e-9:
            best, stale = current, 0
        else:
            stale += 1
            if stale >= 15:
                step, stale, prices = step / 2, 0, list(best.prices)
                current = best
        if step < 1e-4 or out_of_time():
            break
        slack: List[float] = list(limits)
        for reduced, row in zip(current.reduced, scaled):
            if reduced > 0:
                for resource, use in enumerate(row):
                    slack[resource] -= use
        norm = sum(part * part for part in slack)
        if norm <= 1e-12:
            break
        length = step * max(current.bound - target, 1e-6) / norm
        prices = [max(0.0, price - length * part) for price, part in zip(prices, slack)]
    return Relaxation([price / s for price, s in zip(best.prices, scale)], best.reduced, best.bound)


def _price(values, uses, capacities, prices) -> Relaxation:
    reduced = [value - sum(map(_times, prices, row)) for value, row in zip(values, uses)]
    bound = sum(map(_times, prices, capacities)) + sum(part for part in reduced if part > 0)
    return Relaxation(prices, reduced, bound)


def _times(a: float, b: float) -> float:
    return a * b
