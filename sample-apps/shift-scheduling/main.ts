/**
 * Shift scheduling: reads a problem on standard input and writes the cheapest roster found on standard output.
 * Everything a person reads while it runs goes to standard error.
 */
import { text } from 'node:stream/consumers';
import { InputError, parseJson } from './checks.ts';
import { greedyRoster, reachesMinimumHours } from './greedy.ts';
import { type Problem, readProblem } from './input.ts';
import { solveMip } from './mip.ts';
import { buildModel } from './model.ts';
import { readOptions } from './options.ts';
import { costOf, hoursOf, overtimeOf, type Seat, type Weights } from './roster.ts';
import { type CustomStatistics, Progress, rounded } from './statistics.ts';

const optionDefinitions = {
  duration: { default: 10, minimum: 0.1, maximum: 43_200 },
  gap: { default: 0, minimum: 0, maximum: 1 },
  'weight.uncovered': { default: 1, minimum: 0, maximum: 1000 },
  'weight.preference': { default: 1, minimum: 0, maximum: 1000 },
  'weight.overtime': { default: 1, minimum: 0, maximum: 1000 },
};

type Status = 'optimal' | 'feasible' | 'infeasible' | 'unknown';

/** Share of the time that may be spent on saying why there is no roster. */
const explanationShare = 0.5;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), optionDefinitions);
  const problem = readProblem(parseJson(await text(process.stdin)));
  const weights: Weights = {
    uncovered: options['weight.uncovered'],
    preference: options['weight.preference'],
    overtime: options['weight.overtime'],
  };
  const interruption = new AbortController();
  // Listeners that stay: a signal is often sent twice, to the process and to its group, and the second must not kill.
  process.on('SIGTERM', () => interruption.abort());
  process.on('SIGINT', () => interruption.abort());
  const { signal } = interruption;
  const progress = new Progress();

  const model = buildModel(problem, weights);
  const first = greedyRoster(problem);
  let roster: Seat[] | null = reachesMinimumHours(problem, first) ? first : null;
  if (roster) progress.improved(costOf(problem, roster, weights).total, Number.NEGATIVE_INFINITY);

  const seconds = Math.max(0.05, options.duration - progress.seconds());
  const result = await solveMip(model.mip, {
    seconds,
    gap: options.gap,
    signal,
    ...(roster ? { start: model.write(roster) } : {}),
    onImprovement: ({ value, bound }) => progress.improved(value, bound),
  });
  if (result.columns) {
    const found = model.read(result.columns);
    if (!roster || costOf(problem, found, weights).total <= costOf(problem, roster, weights).total)
      roster = found;
  }
  const status: Status = result.status === 'unknown' && roster ? 'feasible' : result.status;
  const reasons =
    status === 'infeasible'
      ? await explain(problem, weights, options.duration * explanationShare, signal)
      : [];

  const cost = roster ? costOf(problem, roster, weights) : null;
  const custom: CustomStatistics = { status, nodes: result.nodes };
  if (cost && roster) {
    progress.improved(cost.total, result.bound);
    Object.assign(custom, {
      uncovered: cost.missing.reduce((sum, gap) => sum + gap.count, 0),
      uncovered_cost: rounded(cost.uncovered),
      preference_cost: rounded(cost.preference),
      overtime_cost: rounded(cost.overtime),
      assignments: roster.length,
      employees_used: new Set(roster.map((seat) => seat.employee)).size,
    });
    if (Number.isFinite(result.bound)) custom.bound = rounded(result.bound);
  }
  console.error(`${progress.seconds().toFixed(2).padStart(8)} s  ${status}`);
  const output = {
    options,
    solution: { status, reasons, ...describe(problem, roster ?? [], cost?.missing ?? []) },
    statistics: progress.statistics(cost ? cost.total : null, custom, result.nodes),
  };
  process.stdout.write(`${JSON.stringify(output)}\n`);
}

/** Which employees cannot get their minimum hours; only that rule can leave a problem without any roster. */
async function explain(
  problem: Problem,
  weights: Weights,
  seconds: number,
  signal: AbortSignal,
): Promise<string[]> {
  const relaxed = buildModel(problem, weights, true);
  const result = await solveMip(relaxed.mip, { seconds, gap: 0, signal });
  if (!result.columns) return ['the minimum hours of the employees cannot all be reached'];
  const roster = relaxed.read(result.columns);
  return relaxed
    .shortfalls(result.columns)
    .filter(({ hours }) => hours > 1e-6)
    .map(({ employee }) => {
      const reached = rounded(hoursOf(employee, roster));
      return (
        `employee "${employee.id}" has min_hours ${employee.hoursMinimum}, but with the least total shortfall gets ` +
        `${reached}: availability, skills, rest, max_hours and the demand allow no more`
      );
    });
}

function describe(
  problem: Problem,
  roster: readonly Seat[],
  missing: readonly { shift: { id: string }; skill: string; count: number; penalty: number }[],
) {
  return {
    assignments: roster.map(({ employee, shift, skill }) => ({
      employee: employee.id,
      shift: shift.id,
      skill,
      hours: rounded(shift.hours),
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
      hours: rounded(hoursOf(employee, roster)),
      overtime_hours: rounded(overtimeOf(employee, roster)),
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
