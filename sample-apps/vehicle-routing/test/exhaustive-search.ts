/** The best plan of a tiny input, found by trying every one: the expectation of the feature tests. */
import { type Input, PlanChecker } from './plan-checker.ts';

/** Least weight of mandatory stops left out, then least cost. */
export function findBestPlan(input: Input): { mandatory: number; cost: number } {
  const checker = new PlanChecker(input);
  const vehicles = input.vehicles.map(({ id }) => id);
  const routes = new Map<string, string[]>(vehicles.map((id) => [id, []]));
  let best = { mandatory: Infinity, cost: Infinity };
  const place = (i: number) => {
    if (i === input.stops.length) {
      const { faults, mandatory, cost } = checker.checkPlan(routes);
      const better = mandatory < best.mandatory || (mandatory === best.mandatory && cost < best.cost);
      if (faults.length === 0 && better) best = { mandatory, cost };
      return;
    }
    place(i + 1);
    for (const route of routes.values()) {
      for (let at = 0; at <= route.length; at++) {
        route.splice(at, 0, input.stops[i].id);
        place(i + 1);
        route.splice(at, 1);
      }
    }
  };
  place(0);
  return best;
}
