/**
 * Computes the times of a route. The vehicle finishes as early as it can, and then leaves as late as that allows, so its
 * waiting is as short as possible. This is also the shortest duration of the route.
 */
import type { Model } from '../search/model.ts';
import type { Plan } from '../search/search.ts';

type Visit = {
  stop: number;
  arrival: number;
  start: number;
  departure: number;
  /** Load on leaving, per dimension. */
  load: number[];
  /** Distance from the place before. */
  distance: number;
};

export type Schedule = {
  vehicle: number;
  visits: Visit[];
  departure: number;
  finish: number;
  startLoad: number[];
  distance: number;
  duration: number;
  travel: number;
  waiting: number;
  cost: number;
};

/** The schedule of one vehicle; null if it has no stops. */
export function scheduleRoute(model: Model, vehicle: number, route: Plan['routes'][number]): Schedule | null {
  if (route.length === 0) return null;
  const { stopCount, dimensions, deliver, change } = model;
  const departure = latestUsefulDeparture(model, vehicle, route);
  const ids = Array.from({ length: dimensions }, (_, k) => k);
  const startLoad = ids.map((k) => route.reduce((sum, { stop }) => sum + deliver[stop * dimensions + k], 0));
  const schedule: Schedule = {
    vehicle,
    visits: [],
    departure,
    finish: departure,
    startLoad,
    distance: 0,
    duration: 0,
    travel: 0,
    waiting: 0,
    cost: 0,
  };
  let at = stopCount + 2 * vehicle;
  let ready = departure;
  let load = startLoad;
  for (const { stop, window } of route) {
    const cell = model.place[at] * model.size + model.place[stop];
    const arrival = ready + model.duration[vehicle][cell];
    const start = Math.max(arrival, model.windowFrom[window]);
    load = load.map((amount, k) => amount + change[stop * dimensions + k]);
    ready = start + model.service[stop];
    schedule.visits.push({ stop, arrival, start, departure: ready, load, distance: model.distance[cell] });
    schedule.distance += model.distance[cell];
    schedule.travel += model.duration[vehicle][cell];
    schedule.waiting += start - arrival;
    at = stop;
  }
  const home = model.place[at] * model.size + model.place[stopCount + 2 * vehicle + 1];
  schedule.distance += model.distance[home];
  schedule.travel += model.duration[vehicle][home];
  schedule.finish = ready + model.duration[vehicle][home];
  schedule.duration = schedule.finish - departure;
  schedule.cost =
    model.activation[vehicle] +
    model.perDistance[vehicle] * schedule.distance +
    model.perDuration[vehicle] * schedule.duration;
  return schedule;
}

function latestUsefulDeparture(model: Model, vehicle: number, route: Plan['routes'][number]): number {
  const { stopCount, place, size, service, windowFrom, windowTo } = model;
  const earliest = model.shiftFrom[vehicle];
  // Leaving at `earliest + slack` delays no start of service beyond what `earliest` allows anyway.
  let at = stopCount + 2 * vehicle;
  let ready = earliest;
  let waited = 0;
  let slack = model.shiftTo[vehicle] - earliest;
  for (const { stop, window } of route) {
    const arrival = ready + model.duration[vehicle][place[at] * size + place[stop]];
    const start = Math.max(arrival, windowFrom[window]);
    waited += start - arrival;
    slack = Math.min(slack, waited + windowTo[window] - start);
    ready = start + service[stop];
    at = stop;
  }
  return earliest + Math.max(0, Math.min(waited, slack));
}
