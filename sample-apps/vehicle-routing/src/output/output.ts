/** The JSON object the app prints: what was asked, the plan, the figures to compare runs by, and a map. */

import { formatTime, round } from '../input/times.ts';
import type { Options } from '../options.ts';
import { findMandatoryPenalty, type Model } from '../search/model.ts';
import type { Incumbent, Search } from '../search/search.ts';
import { type Schedule, scheduleRoute } from './schedule.ts';
import { explainUnplanned } from './unplanned-reasons.ts';

/** Coordinates of a place in the output, written as in the input. */
type Location = { lon: number; lat: number } | { x: number; y: number };

/** How many points of the incumbent's history are kept, so that the statistics stay well under 10 kB. */
const historyLimit = 60;

export function buildOutput(model: Model, search: Search, options: Options, seconds: number): object {
  const { problem } = model;
  const { best } = search;
  const schedules = best.routes
    .map((route, v) => scheduleRoute(model, v, route))
    .filter((schedule) => schedule !== null);
  const unplanned = explainUnplanned(model, best);
  const sum = (pick: (schedule: Schedule) => number) =>
    round(schedules.reduce((total, schedule) => total + pick(schedule), 0));
  const custom = {
    vehicles_used: schedules.length,
    vehicles: problem.vehicles.length,
    stops_planned: problem.stops.length - unplanned.length,
    stops_unplanned: unplanned.length,
    mandatory_unplanned: unplanned.filter(({ stop }) => model.mandatory[stop] === 1).length,
    distance: sum((schedule) => schedule.distance),
    duration: sum((schedule) => schedule.duration),
    travel_duration: sum((schedule) => schedule.travel),
    waiting_duration: sum((schedule) => schedule.waiting),
    route_cost: sum((schedule) => schedule.cost),
    unplanned_cost: round(unplanned.reduce((total, { stop }) => total + model.penalty[stop], 0)),
  };
  return {
    options,
    solution: {
      vehicles: schedules.map((schedule) => vehicleOut(model, schedule, options.map)),
      unplanned: unplanned.map(({ stop, reason }) => ({
        id: problem.stops[stop].id,
        mandatory: model.mandatory[stop] === 1,
        penalty: model.penalty[stop],
        reason,
      })),
    },
    statistics: {
      schema: 'v1',
      run: { duration: round(seconds), iterations: search.iteration },
      result: {
        duration: round(search.history.at(-1)?.seconds ?? 0),
        value: round(custom.route_cost + custom.unplanned_cost),
        custom,
      },
      series_data: {
        value: {
          name: 'value of the best plan over seconds',
          data_points: thinned(listComparable(model, search.history)).map((point) => ({
            x: round(point.seconds),
            y: round(point.value),
          })),
        },
      },
    },
    visualization: listViews(options.map && problem.places.some((place) => place !== null)),
    assets:
      options.map && problem.places.some((place) => place?.geographic) ? [buildMap(model, schedules)] : [],
  };
}

/** Tells the console how to show the plan: as a map with a table of routes, as a Gantt chart, as a table. */
function listViews(hasLocations: boolean): object[] {
  return [
    ...(hasLocations ? [{ schema: 'routes', label: 'Routes', path: 'solution.vehicles' }] : []),
    {
      schema: 'gantt',
      label: 'Schedule',
      path: 'solution.vehicles[].route',
      fields: { resource: 'id', label: 'stop', start: 'arrival', end: 'departure' },
    },
    { schema: 'table', label: 'Unplanned stops', path: 'solution.unplanned' },
  ];
}

function vehicleOut(model: Model, schedule: Schedule, hasMap: boolean): object {
  const { problem, stopCount } = model;
  const location = (name: string, visit: number) => {
    const at = hasMap ? findLocation(model, visit) : null;
    return at ? { [name]: at } : {};
  };
  const first = stopCount + 2 * schedule.vehicle;
  const time = (seconds: number) => formatTime(seconds, problem.clock);
  const load = (amounts: number[]) =>
    Object.fromEntries(problem.dimensions.map((name, k) => [name, round(amounts[k])]));
  return {
    id: problem.vehicles[schedule.vehicle].id,
    departure: time(schedule.departure),
    finish: time(schedule.finish),
    ...location('start_location', first),
    ...location('end_location', first + 1),
    start_load: load(schedule.startLoad),
    route: schedule.visits.map((visit) => ({
      stop: problem.stops[visit.stop].id,
      ...location('location', visit.stop),
      arrival: time(visit.arrival),
      start: time(visit.start),
      departure: time(visit.departure),
      waiting: round(visit.start - visit.arrival),
      distance: round(visit.distance),
      load: load(visit.load),
    })),
    distance: round(schedule.distance),
    duration: round(schedule.duration),
    travel_duration: round(schedule.travel),
    waiting_duration: round(schedule.waiting),
    cost: round(schedule.cost),
  };
}

/** Returns the location of a stop, or of the start or end of a vehicle; null where the input has no coordinates. */
function findLocation({ problem, place }: Model, visit: number): Location | null {
  const at = problem.places[place[visit]];
  if (!at) return null;
  return at.geographic ? { lon: at.x, lat: at.y } : { x: at.x, y: at.y };
}

/**
 * The history without the plans that leave out a mandatory stop, unless the last one does: their value is so large that a
 * chart with them shows nothing else.
 */
function listComparable(model: Model, history: Incumbent[]): Incumbent[] {
  const least = findMandatoryPenalty(model);
  const comparable = history.filter(({ value }) => value < least);
  return comparable.at(-1) === history.at(-1) ? comparable : history;
}

/** The history without the points that matter least: evenly spread over its length, first and last kept. */
function thinned(history: Incumbent[]): Incumbent[] {
  if (history.length <= historyLimit) return history;
  const last = history.length - 1;
  return Array.from({ length: historyLimit }, (_, i) => history[Math.round((i * last) / (historyLimit - 1))]);
}

/** Routes as lines and stops as points, for other map programs. It asks for no tab: the view of the routes shows the same. */
function buildMap(model: Model, schedules: Schedule[]): object {
  const { problem, stopCount, place } = model;
  const point = (visit: number) => {
    const at = problem.places[place[visit]];
    return at ? [at.x, at.y] : null;
  };
  const features = schedules.flatMap((schedule) => {
    const id = problem.vehicles[schedule.vehicle].id;
    const first = stopCount + 2 * schedule.vehicle;
    const line = [first, ...schedule.visits.map(({ stop }) => stop), first + 1]
      .map(point)
      .filter((at) => at !== null);
    return [
      {
        type: 'Feature',
        properties: { vehicle: id, distance: round(schedule.distance) },
        geometry: { type: 'LineString', coordinates: line },
      },
      ...schedule.visits.map(({ stop, start }, i) => ({
        type: 'Feature',
        properties: {
          vehicle: id,
          stop: problem.stops[stop].id,
          order: i + 1,
          start: formatTime(start, problem.clock),
        },
        geometry: { type: 'Point', coordinates: point(stop) },
      })),
    ];
  });
  return {
    name: 'Routes',
    description: 'The routes on a map.',
    content_type: 'json',
    visual: { schema: 'geojson', label: 'Routes' },
    content: [{ type: 'FeatureCollection', features }],
  };
}
