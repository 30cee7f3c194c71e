/** Runs the app the way the platform does: a process with the input on stdin and options as arguments. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { buildOutput } from '../src/output/output.ts';
import { prepareSearch } from '../src/prepare-search.ts';
import { type Input, PlanChecker, type Time, toSeconds } from './plan-checker.ts';

const entry = fileURLToPath(new URL('../main.ts', import.meta.url));

export type Output = {
  options: Record<string, number | boolean>;
  solution: {
    vehicles: {
      id: string;
      departure: Time;
      finish: Time;
      start_load: Record<string, number>;
      route: {
        stop: string;
        arrival: Time;
        start: Time;
        departure: Time;
        waiting: number;
        distance: number;
        load: Record<string, number>;
      }[];
      distance: number;
      duration: number;
      travel_duration: number;
      waiting_duration: number;
      cost: number;
    }[];
    unplanned: { id: string; mandatory: boolean; penalty: number; reason: string }[];
  };
  statistics: {
    schema: string;
    run: { duration: number; iterations: number };
    result: { duration: number; value: number; custom: Record<string, number> };
    series_data: { value: { name: string; data_points: { x: number; y: number }[] } };
  };
  assets: { name: string; content_type: string; content: unknown; visual: Record<string, string> }[];
};

export function startApp(args: string[] = []) {
  return spawn(process.execPath, [entry, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Runs to the end and returns what was printed. */
export async function runApp(
  input: string,
  args: string[] = [],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = startApp(args);
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

/**
 * Solves an input within a number of iterations and returns the output, after holding it against the judge. It runs
 * what `main.ts` runs, in this process: hundreds of inputs need no hundreds of processes.
 */
export function solve(input: Input, iterations = 1500, args: string[] = []): Output {
  const limits = ['-iterations', String(iterations), '-duration', '0', ...args];
  const { model, search, options } = prepareSearch(limits, JSON.stringify(input), () => 0);
  search.run(Infinity);
  const output: Output = JSON.parse(JSON.stringify(buildOutput(model, search, options, 0)));
  const faults = checkOutput(input, output);
  if (faults.length > 0) throw new Error(`${faults.join('\n')}\n${JSON.stringify(input)}`);
  return output;
}

/** Every figure of the output against the input; empty when all is right. */
export function checkOutput(input: Input, output: Output): string[] {
  const checker = new PlanChecker(input);
  const { vehicles, unplanned } = output.solution;
  const routes = new Map(vehicles.map(({ id, route }) => [id, route.map(({ stop }) => stop)]));
  const verdict = checker.checkPlan(routes);
  const faults = [...verdict.faults];
  const same = (what: string, actual: number, expected: number) => {
    if (!(Math.abs(actual - expected) <= 1e-4 * Math.max(1, Math.abs(expected))))
      faults.push(`${what} is ${actual}, not ${expected}`);
  };
  const missing = input.stops.map(({ id }) => id).filter((id) => ![...routes.values()].flat().includes(id));
  if (missing.join() !== unplanned.map(({ id }) => id).join()) faults.push(`unplanned are ${missing.join()}`);
  if (unplanned.some(({ reason }) => !reason.endsWith('.'))) faults.push('an unplanned stop has no reason');
  same('value', valueWithoutMandatory(output), verdict.cost);
  for (const vehicle of vehicles) {
    const stops = routes.get(vehicle.id) ?? [];
    const { distance, cost } = checker.checkRoute(vehicle.id, stops);
    same(`${vehicle.id}.distance`, vehicle.distance, distance);
    same(`${vehicle.id}.cost`, vehicle.cost, cost);
    faults.push(...checkTimes(checker, vehicle, stops));
    for (const name of checker.dimensionNames()) {
      const loads = checker.loads(stops, name);
      same(`${vehicle.id}.start_load`, vehicle.start_load[name], loads[0]);
      for (const [i, visit] of vehicle.route.entries())
        same(`load at ${visit.stop}`, visit.load[name], loads[i + 1]);
    }
  }
  return faults;
}

function checkTimes(
  checker: PlanChecker,
  vehicle: Output['solution']['vehicles'][number],
  stops: string[],
): string[] {
  const faults: string[] = [];
  // Timestamps are written in whole seconds, so each may be off by half of one.
  const slack = typeof vehicle.departure === 'string' ? 1.01 : 1e-4;
  const holds = (held: boolean, what: string) => {
    if (!held) faults.push(`${vehicle.id}: ${what}`);
  };
  const described = checker.vehicle(vehicle.id);
  const shift = checker.shift(described);
  const legs = checker.legs(described, stops);
  let ready = toSeconds(vehicle.departure);
  holds(ready >= shift.from - slack && toSeconds(vehicle.finish) <= shift.to + slack, 'outside its shift');
  for (const [i, visit] of vehicle.route.entries()) {
    const stop = checker.stop(visit.stop);
    const [arrival, begin, departure] = [visit.arrival, visit.start, visit.departure].map(toSeconds);
    const windows = stop.windows ?? [{ from: -Infinity, to: Infinity }];
    holds(Math.abs(arrival - ready - legs[i].time) <= slack, `arrival at ${visit.stop}`);
    holds(begin >= arrival - slack, `start at ${visit.stop} before arrival`);
    holds(Math.abs(departure - begin - (stop.service_duration ?? 0)) <= slack, `service at ${visit.stop}`);
    holds(
      windows.some(({ from, to }) => begin >= toSeconds(from) - slack && begin <= toSeconds(to) + slack),
      `window of ${visit.stop}`,
    );
    ready = departure;
  }
  holds(Math.abs(toSeconds(vehicle.finish) - ready - legs[stops.length].time) <= slack, 'finish');
  holds(vehicle.duration <= (described.max_duration ?? Infinity) + 1e-4, `duration ${vehicle.duration}`);
  return faults;
}

/** The objective with mandatory stops taken out, so that it can be compared with plain costs. */
export function valueWithoutMandatory(output: Output): number {
  const mandatory = output.solution.unplanned.filter((stop) => stop.mandatory);
  return output.statistics.result.value - mandatory.reduce((sum, stop) => sum + stop.penalty, 0);
}

/** Weight of the mandatory stops left out, by priority, as the exhaustive search counts it. */
export function mandatoryWeight(input: Input, output: Output): number {
  const checker = new PlanChecker(input);
  const mandatory = output.solution.unplanned.filter((stop) => stop.mandatory);
  return mandatory.reduce((sum, { id }) => sum + 2 ** (6 - (checker.stop(id).priority ?? 6)), 0);
}

/** Stops by vehicle. */
export function stopsByVehicle(output: Output): Record<string, string[]> {
  return Object.fromEntries(
    output.solution.vehicles.map(({ id, route }) => [id, route.map(({ stop }) => stop)]),
  );
}
