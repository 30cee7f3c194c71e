/**
 * Reduces a run of the sample app vehicle-routing to the data of the picture on the first page:
 *
 *     node site/pictures/reduce-run.ts input.json output.json > site/pictures/finished-run.json
 *
 * The input must give its stops and vehicle starts as names of `locations` with x and y.
 */
import { readFileSync } from 'node:fs';

/** The data of a finished run for the picture. Coordinates are those of the input; routes start and end at the depot. */
type FinishedRun = {
  depot: [number, number];
  routes: [number, number][][];
  value: number;
  vehicles: number;
  stops: number;
  iterations: number;
  /** Seconds of search, and the best value at a number of seconds. */
  duration: number;
  history: [number, number][];
};

type Input = {
  locations: { id: string; x: number; y: number }[];
  stops: { id: string; location: string }[];
  vehicles: { start: string }[];
};
type Output = {
  solution: { vehicles: { route: { stop: string }[] }[] };
  statistics: {
    run: { duration: number; iterations: number };
    result: { value: number; custom: { vehicles_used: number; stops_planned: number } };
    series_data: { value: { data_points: { x: number; y: number }[] } };
  };
};

function reduce(input: Input, output: Output): FinishedRun {
  const places = new Map<string, [number, number]>(input.locations.map(({ id, x, y }) => [id, [x, y]]));
  const at = (name: string | undefined): [number, number] => {
    const place = places.get(name ?? '');
    if (!place) throw new Error(`The input has no location "${name}"; every stop and vehicle must name one.`);
    return place;
  };
  const stops = new Map(input.stops.map(({ id, location }) => [id, location]));
  const { run, result, series_data } = output.statistics;
  return {
    depot: at(input.vehicles[0]?.start),
    routes: output.solution.vehicles.map(({ route }) => route.map(({ stop }) => at(stops.get(stop)))),
    value: result.value,
    vehicles: result.custom.vehicles_used,
    stops: result.custom.stops_planned,
    iterations: run.iterations,
    duration: run.duration,
    history: series_data.value.data_points.map(({ x, y }) => [Math.round(x * 1000) / 1000, y]),
  };
}

if (import.meta.main) {
  const [inputPath = '', outputPath = ''] = process.argv.slice(2);
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  console.log(JSON.stringify(reduce(read(inputPath), read(outputPath))));
}
