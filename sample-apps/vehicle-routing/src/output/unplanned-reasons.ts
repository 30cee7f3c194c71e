/**
 * Why a stop was left out, as one sentence a planner can act on. First what no vehicle could ever do for this stop
 * alone; then, whether it would fit beside what is planned.
 */
import { Insertion } from '../search/insertion.ts';
import type { Model } from '../search/model.ts';
import type { Plan } from '../search/search.ts';
import { State } from '../search/state.ts';

/** The reason for each unplanned stop of the plan, in the order of the stops. */
export function explainUnplanned(model: Model, plan: Plan): { stop: number; reason: string }[] {
  const planned = new Set(plan.routes.flatMap((route) => route.map(({ stop }) => stop)));
  const missing = model.problem.stops.map((_, stop) => stop).filter((stop) => !planned.has(stop));
  if (missing.length === 0) return [];
  const full = new State(model);
  plan.routes.forEach((route, v) => {
    let behind = full.firstVisit(v);
    for (const { stop, window } of route) {
      full.insert(stop, behind, window);
      behind = stop;
    }
    full.refresh(v);
  });
  const alone = { state: new State(model), insertion: new Insertion(new State(model)) };
  const withOthers = new Insertion(full);
  return missing.map((stop) => ({ stop, reason: explain(model, stop, alone.insertion, withOthers) }));
}

function explain(model: Model, stop: number, alone: Insertion, withOthers: Insertion): string {
  const { problem, vehicleCount, partner, isDelivery } = model;
  const vehicles = problem.vehicles.map((_, v) => v);
  const lead = isDelivery[stop] === 1 ? partner[stop] : stop;
  const pair = partner[stop] >= 0 ? [lead, partner[lead]] : [stop];
  const able = vehicles.filter((v) => model.allowed[stop * vehicleCount + v] === 1);
  if (able.length === 0) return noVehicle(model, pair);
  const strong = able.filter((v) =>
    problem.dimensions.every((_, k) => most(model, pair, k) <= model.capacity[v * model.dimensions + k]),
  );
  if (strong.length === 0)
    return 'Its amounts are larger than the capacity of every vehicle that may serve it.';
  if (strong.every((v) => alone.insertionCost(lead, v) === Infinity)) {
    return partner[stop] >= 0
      ? 'Even alone on a route, no vehicle that may serve its shipment can do so within the windows, shifts and limits.'
      : "Even alone on a route, no vehicle that may serve it can do so within its windows and the vehicle's shift and limits.";
  }
  const worth = pair.reduce((sum, one) => sum + model.penalty[one], 0);
  const cheapest = Math.min(...able.map((v) => withOthers.insertionCost(lead, v)));
  if (cheapest < worth) return 'It would pay to serve it, which a longer search would find.';
  if (cheapest < Infinity) return 'Serving it would cost as much as its penalty, or more.';
  return 'No vehicle has room for it beside the stops that are planned.';
}

/** The largest load the stop, or its shipment, causes by itself. */
function most(model: Model, pair: number[], k: number): number {
  return Math.max(
    ...pair.map((stop) =>
      Math.max(model.deliver[stop * model.dimensions + k], model.pickedUp[stop * model.dimensions + k]),
    ),
  );
}

function noVehicle({ problem }: Model, pair: number[]): string {
  const { stops, vehicles } = problem;
  for (const stop of pair) {
    const { skills, vehicles: listed } = stops[stop];
    const missing = skills.find((skill) => !vehicles.some((vehicle) => vehicle.skills.includes(skill)));
    if (missing !== undefined) return `No vehicle has the skill ${JSON.stringify(missing)}.`;
    const skilled = vehicles.filter((vehicle) => skills.every((skill) => vehicle.skills.includes(skill)));
    if (skilled.length === 0) return `No single vehicle has all the skills ${JSON.stringify(skills)}.`;
    if (listed && !skilled.some((vehicle) => listed.includes(vehicle.id))) {
      return `None of the vehicles ${JSON.stringify(listed)} it is restricted to has its skills.`;
    }
  }
  return 'No vehicle may serve both stops of its shipment.';
}
