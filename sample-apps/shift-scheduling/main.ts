/** Shift scheduling: reads a problem from standard input and writes the cheapest roster found to standard output. Progress goes to standard error. */
import { text } from 'node:stream/consumers';
import { buildGreedyRoster, reachesMinimumHours } from './greedy.ts';
import { type Problem, readProblem } from './input.ts';
import { InputError, parseJson } from './json-parsing.ts';
import { solveMip } from './mip.ts';
import { buildModel } from './model.ts';
import { readOptions } from './options.ts';
import { type Assignment, computeOvertime, rosterCost, sumHours, type Weights } from './roster.ts';
import { type CustomStatistics, Progress, roundValue } from './statistics.ts';

const optionDefinitions = {
  duration: { default: 10, minimum: 0.1, maximum: 43_200 },
  gap: { default: 0, minimum: 0, maximum: 1 },
  'weight.uncovered': { default: 1, minimum: 0, maximum: 1000 },
  'weight.preference': { default: 1, minimum: 0, maximum: 1000 },
  'weight.overtime': { default: 1, minimum: 0, maximum: 1000 },
};

type Status = 'optimal' | 'feasible' | 'infeasible' | 'unknown';

/** Share of the duration for the explanation of a problem without a roster. */
const explanationShare = 0.5;

/** Views of the roster that the console shows: a Gantt chart with one lane for each employee, and tables. */
const views = [
  {
    schema: 'gantt',
    label: 'Roster',
    path: 'solution.assignments',
    fields: { resource: 'employee', label: 'shift', group: 'skill', key: 'shift' },
  },
  { schema: 'table', label: 'Uncovered demand', path: 'solution.uncovered' },
  { schema: 'table', label: 'Employees', path: 'solution.employees' },
];

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), optionDefinitions);
  const problem = readProblem(parseJson(await text(process.stdin)));
  const weights: Weights = {
    uncovered: options['weight.uncovered'],
    preference: options['weight.preference'],
    overtime: options['weight.overtime'],
  };
  const interruption = new AbortController();
  // The listeners stay: a signal often arrives twice, at the process and at its group, and the second must not kill.
  process.on('SIGTERM', () => interruption.abort());
  process.on('SIGINT', () => interruption.abort());
  const { signal } = interruption;
  const progress = new Progress();

  const model = buildModel(problem, weights);
  const first = buildGreedyRoster(problem);
  let roster: Assignment[] | null = reachesMinimumHours(problem, first) ? first : null;
  if (roster)
    progress.recordImprovement(rosterCost(problem, roster, weights).total, Number.NEGATIVE_INFINITY);

  const seconds = Math.max(0.05, options.duration - progress.elapsedSeconds());
  const result = await solveMip(model.mip, {
    seconds,
    gap: options.gap,
    signal,
    ...(roster ? { start: model.toColumns(roster) } : {}),
    onImprovement: ({ value, bound }) => progress.recordImprovement(value, bound),
  });
  if (result.columns) {
    const found = model.toRoster(result.columns);
    if (!roster || rosterCost(problem, found, weights).total <= rosterCost(problem, roster, weights).total)
      roster = found;
  }
  const status: Status = result.status === 'unknown' && roster ? 'feasible' : result.status;
  const reasons =
    status === 'infeasible'
      ? await explain(problem, weights, options.duration * explanationShare, signal)
      : [];

  const cost = roster ? rosterCost(problem, roster, weights) : null;
  const custom: CustomStatistics = { status, nodes: result.nodes };
  if (cost && roster) {
    progress.recordImprovement(cost.total, result.bound);
    progress.printSeries(cost.total, result.bound);
    Object.assign(custom, {
      uncovered: cost.missing.reduce((sum, gap) => sum + gap.count, 0),
      uncovered_cost: roundValue(cost.uncovered),
      preference_cost: roundValue(cost.preference),
      overtime_cost: roundValue(cost.overtime),
      assignments: roster.length,
      employees_used: new Set(roster.map((seat) => seat.employee)).size,
    });
    if (Number.isFinite(result.bound)) custom.bound = roundValue(result.bound);
  }
  console.error(`${progress.elapsedSeconds().toFixed(2).padStart(8)} s  ${status}`);
  const output = {
    options,
    solution: { status, reasons, ...describe(problem, roster ?? [], cost?.missing ?? []) },
    visualization: views,
    statistics: progress.buildStatistics(cost ? cost.total : null, custom, result.nodes),
  };
  process.stdout.write(`${JSON.stringify(output)}\n`);
}

/** Returns the employees that cannot reach their minimum hours, the only rule that can make a problem infeasible. */
async function explain(
  problem: Problem,
  weights: Weights,
  seconds: number,
  signal: AbortSignal,
): Promise<string[]> {
  const relaxed = buildModel(problem, weights, true);
  const result = await solveMip(relaxed.mip, { seconds, gap: 0, signal });
  if (!result.columns) return ['the minimum hours of the employees cannot all be reached'];
  const roster = relaxed.toRoster(result.columns);
  return relaxed
    .computeShortfalls(result.columns)
    .filter(({ hours }) => hours > 1e-6)
    .map(({ employee }) => {
      const reached = roundValue(sumHours(employee, roster));
      return (
        `employee "${employee.id}" has min_hours ${employee.hoursMinimum}, but with the least total shortfall gets ` +
        `${reached}: availability, skills, rest, max_hours and the demand allow no more`
      );
    });
}

/** Returns minutes since 1970 as the input writes times, such as `2026-03-02T06:00`. */
function formatMinutes(minutes: number): string {
  return new Date(minutes * 60_000).toISOString().slice(0, 16);
}

function describe(
  problem: Problem,
  roster: readonly Assignment[],
  missing: readonly { shift: { id: string }; skill: string; count: number; penalty: number }[],
) {
  return {
    assignments: roster.map(({ employee, shift, skill }) => ({
      employee: employee.id,
      shift: shift.id,
      start: formatMinutes(shift.start),
      end: formatMinutes(shift.end),
      skill,
      hours: roundValue(shift.hours),
      preference_cost: employee.preferences.get(shift.id) ?? 0,
    })),
    uncovered: missing.map(({ shift, skill, count, penalty }) => ({
      shift: shift.id,
      skill,
      missing: count,
      penalty,
    })),
    employees: problem.employees.map((employee) => ({
      id: employee.id,
      hours: roundValue(sumHours(employee, roster)),
      overtime_hours: roundValue(computeOvertime(employee, roster)),
    })),
  };
}

try {
  await main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
