"""Local search for a good selection, then branch and bound for the best one."""

import random
from bisect import bisect_right
from itertools import accumulate
from typing import List, Sequence, Set

from incumbent import Incumbent
from problem import Problem
from relaxation import Relaxation

# Local search gives up after so many rounds without an improvement, so small problems do not wait for the clock.
STALE_ROUNDS = 3000


def fill(problem: Problem, order: Sequence[int], chosen: Set[int], used: List[float]) -> None:
    """Adds the items of `order` that still fit; changes `chosen` and `used`."""
    for index in order:
        if index in chosen:
            continue
        uses = problem.items[index].uses
        if all(problem.fits(used[r] + use, r) for r, use in enumerate(uses)):
            chosen.add(index)
            for r, use in enumerate(uses):
                used[r] += use


def value_of(problem: Problem, chosen) -> float:
    return sum(problem.items[index].value for index in chosen)


def used_by(problem: Problem, chosen) -> List[float]:
    return [sum(problem.items[index].uses[r] for index in chosen) for r in range(len(problem.resources))]


def local_search(
    problem: Problem, incumbent: Incumbent, order: Sequence[int], generator: random.Random, share: float
) -> int:
    """Drops a few random items, refills in a slightly shuffled order, keeps what is not worse. Returns the rounds."""
    fixed = {index for index, item in enumerate(problem.items) if item.required}
    chosen = set(incumbent.chosen)
    value = value_of(problem, chosen)
    rank = {index: position for position, index in enumerate(order)}
    rounds = stale = 0
    while stale < STALE_ROUNDS and not incumbent.out_of_time(share):
        rounds += 1
        stale += 1
        free = sorted(chosen - fixed)
        if not free or not incumbent.is_open():
            break
        dropped = set(generator.sample(free, min(len(free), generator.randint(1, 4))))
        trial = chosen - dropped
        used = used_by(problem, trial)
        noise = generator.choice((2.0, 8.0, 30.0))
        shuffled = sorted(order, key=lambda index: rank[index] + noise * generator.random())
        # What was dropped may come back, but only after everything else had its chance.
        fill(problem, [i for i in shuffled if i not in dropped], trial, used)
        fill(problem, [i for i in shuffled if i in dropped], trial, used)
        trial_value = value_of(problem, trial)
        if trial_value >= value:
            chosen, value = trial, trial_value
            if incumbent.is_better(value):
                incumbent.offer(value, sorted(chosen))
                stale = 0
    return rounds


class BranchAndBound:
    """Depth-first over the items that the prices leave open.

    Two bounds cut a branch: the prices' own, which falls by |reduced value| with each decision against it, and the
    fractional knapsack over the one constraint that the priced resources add up to. Both never undervalue a branch, so a
    search that ends on its own has proved its incumbent.
    """

    def __init__(self, problem: Problem, incumbent: Incumbent, candidates: Sequence[int], relaxation: Relaxation):
        self.problem = problem
        self.incumbent = incumbent
        self.nodes = 0
        # Sums of large numbers are inexact; a branch is cut only when it misses by more than that.
        self.tolerance = 1e-7 + 1e-9 * relaxation.bound
        values_whole = all(float(item.value).is_integer() for item in problem.items)
        # With whole values a better selection is better by at least one.
        self.gain_minimum = 1.0 if values_whole else 0.0
        fixed = [index for index, item in enumerate(problem.items) if item.required]
        self.base = set(fixed)
        slack = relaxation.bound + value_of(problem, fixed) - (incumbent.value or 0) - self.gain_minimum
        open_items = []
        for index, reduced in zip(candidates, relaxation.reduced):
            if abs(reduced) <= slack + self.tolerance:
                open_items.append((index, reduced))
            elif reduced > 0:
                self.base.add(index)
        self.base_bound = relaxation.bound + value_of(problem, fixed)
        weights = {
            index: sum(price * use for price, use in zip(relaxation.prices, problem.items[index].uses))
            for index, _ in open_items
        }
        open_items.sort(key=lambda entry: -problem.items[entry[0]].value / max(weights[entry[0]], 1e-12))
        self.items = [index for index, _ in open_items]
        self.reduced = [reduced for _, reduced in open_items]
        self.values = [problem.items[index].value for index in self.items]
        self.weights = [weights[index] for index in self.items]
        self.value_sums = [0.0, *accumulate(self.values)]
        self.weight_sums = [0.0, *accumulate(self.weights)]
        self.prices = relaxation.prices

    def run(self) -> bool:
        """True when the search ended on its own: the incumbent is then the best there is."""
        used = used_by(self.problem, self.base)
        if not all(self.problem.fits(amount, r) for r, amount in enumerate(used)):
            # Fixing by reduced value assumed a better selection; there is none.
            return True
        start_value = value_of(self.problem, self.base)
        taken: List[int] = []
        # The stack holds decisions to try; None undoes the item taken last.
        stack: list = [(0, start_value, self.base_bound, used, None)]
        while stack:
            frame = stack.pop()
            if frame is None:
                taken.pop()
                continue
            position, value, price_bound, used, taking = frame
            self.nodes += 1
            if self.nodes % 512 == 0 and self.incumbent.out_of_time():
                return False
            if taking is not None:
                taken.append(taking)
                stack.append(None)
                if self.incumbent.is_better(value):
                    chosen = sorted(self.base | {self.items[place] for place in taken})
                    self.incumbent.offer(value, chosen)
            if position == len(self.items) or not self.promises(position, value, price_bound, used):
                continue
            reduced = self.reduced[position]
            stack.append((position + 1, value, price_bound - max(0.0, reduced), used, None))
            uses = self.problem.items[self.items[position]].uses
            after = [amount + use for amount, use in zip(used, uses)]
            if all(self.problem.fits(amount, r) for r, amount in enumerate(after)):
                stack.append(
                    (position + 1, value + self.values[position], price_bound + min(0.0, reduced), after, position)
                )
        return True

    def promises(self, position: int, value: float, price_bound: float, used: Sequence[float]) -> bool:
        """Return whether a better solution than the incumbent may exist below this node."""
        wanted = (self.incumbent.value or 0) + self.gain_minimum - self.tolerance
        if price_bound < wanted:
            return False
        room = self.tolerance + sum(
            price * max(0.0, capacity - amount)
            for price, capacity, amount in zip(self.prices, self.problem.capacities, used)
        )
        target = self.weight_sums[position] + room
        end = bisect_right(self.weight_sums, target) - 1
        bound = value + self.value_sums[end] - self.value_sums[position]
        if end < len(self.items):
            bound += (target - self.weight_sums[end]) * self.values[end] / self.weights[end]
        return bound >= wanted
