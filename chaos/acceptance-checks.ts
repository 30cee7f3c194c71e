/** Checks acceptance tests after the chaos test: computes each decision again from the runs of its batch. */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';

/** From this share of the repetitions of an input on, a candidate that fails more often than the control loses the input. */
const LOST_SHARE_MIN = 0.5;

type Side = 'control' | 'candidate';

/** The values of both sides by input and repetition; null for a run that did not succeed. */
interface InputPairs {
  control: number | null;
  candidate: number | null;
}

type Row = Record<string, unknown>;

/**
 * Returns violations. The tests `created` exist and are decided by all their runs, `runs` on each side; nothing of the
 * tests `deleted` exists.
 */
export async function checkAcceptanceTests(
  query: RunQuery,
  created: readonly string[],
  deleted: readonly string[],
  runs: number,
): Promise<string[]> {
  const violations: string[] = [];
  const rows = await query('select * from acceptance_tests');
  const tests = new Map(rows.map((row) => [String(row.id), row]));
  const batches = new Map(
    (await query("select uid, id, status from experiments where kind = 'batch'")).map((row) => [
      row.uid,
      row,
    ]),
  );
  for (const id of created) {
    const test = tests.get(id);
    const batch = batches.get(test?.experiment_uid);
    if (!test) violations.push(`the acceptance test ${id} was acknowledged and does not exist`);
    else if (batch?.id !== id) violations.push(`the acceptance test ${id} has no batch of its id`);
    else if (test.status !== batch.status)
      violations.push(`the acceptance test ${id} is ${test.status}, but its batch is ${batch.status}`);
    else violations.push(...(await checkDecision(query, id, test, runs)));
  }
  for (const id of deleted)
    if (tests.has(id)) violations.push(`the acceptance test ${id} was deleted and still exists`);
  const [orphans] = await query(
    'select count(*) as count from runs where experiment_uid is not null and experiment_uid not in (select uid from experiments)',
  );
  if (Number(orphans?.count) > 0) violations.push(`${orphans?.count} runs belong to missing experiments`);
  return violations;
}

/**
 * A rule compares the sides over the pairs of runs that both succeeded, while the distribution of a side has all its runs. Runs
 * fail when their app is killed, so both differ.
 */
async function checkDecision(query: RunQuery, id: string, test: Row, runs: number): Promise<string[]> {
  const pairsByInput = await readPairs(query, test);
  const pairs = [...pairsByInput.values()].flat();
  const succeeded = (side: Side): number => pairs.filter((pair) => pair[side] !== null).length;
  const solved = pairs.flatMap(({ control, candidate }) =>
    control === null || candidate === null ? [] : [{ control, candidate }],
  );
  const isLost = [...pairsByInput.values()].some(losesInput);
  const results = JSON.parse(String(test.metric_results ?? '[]')) as MetricResult[];
  const violations = results.flatMap(({ metric, passed, statistics, control_value, candidate_value }) => {
    const reported = { control: control_value, candidate: candidate_value };
    const expected = (side: Side): number =>
      computeStatistic(
        solved.map((pair) => pair[side]),
        metric.statistic,
      );
    const found = (['control', 'candidate'] as const).flatMap((side) => {
      const { number_of_runs_total, distribution_summary_statistics } = statistics[side];
      return number_of_runs_total === runs &&
        distribution_summary_statistics.count === succeeded(side) &&
        (solved.length === 0 || Math.abs((reported[side] ?? 0) - expected(side)) < 1e-9)
        ? []
        : [`the acceptance test ${id} was not decided by the runs of its ${side}`];
    });
    // Inputs and apps are equal, so only runs that failed because they were killed make a difference.
    const holds = solved.length > 0 && !isLost && expected('candidate') <= expected('control');
    if (passed !== holds) found.push(`the acceptance test ${id} evaluates ${metric.statistic} as ${passed}`);
    return found;
  });
  if (results.length !== 2) violations.push(`the acceptance test ${id} has ${results.length} of 2 results`);
  if (Number(test.passed) !== Number(results.every(({ passed }) => passed)))
    violations.push(`the result of the acceptance test ${id} contradicts its rules`);
  return violations;
}

/** Returns the pairs of each input: one for each repetition. */
async function readPairs(query: RunQuery, test: Row): Promise<Map<string, InputPairs[]>> {
  const { control } = JSON.parse(String(test.definition)) as { control: { instance_id: string } };
  const rows = await query(
    `select instance_id, status, indicators, input_id, labels from runs where experiment_uid = '${test.experiment_uid}'`,
  );
  const inputs = new Map<string, Map<number, InputPairs>>();
  for (const row of rows) {
    const pairs = inputs.get(String(row.input_id)) ?? new Map<number, InputPairs>();
    inputs.set(String(row.input_id), pairs);
    const { repetition = 0 } = JSON.parse(String(row.labels)) as { repetition?: number };
    const pair = pairs.get(repetition) ?? { control: null, candidate: null };
    pairs.set(repetition, pair);
    if (row.status === 'succeeded')
      pair[row.instance_id === control.instance_id ? 'control' : 'candidate'] = readValue(row);
  }
  return new Map([...inputs].map(([input, pairs]) => [input, [...pairs.values()]]));
}

/** Returns the only indicator of the app of the load; NaN without one, which no decision can contain. */
function readValue({ indicators }: Row): number {
  return (JSON.parse(String(indicators)) as { value: number }[])[0]?.value ?? Number.NaN;
}

/** Returns true if the candidate failed so many more repetitions of the input than the control that no rule may be met. */
function losesInput(pairs: readonly InputPairs[]): boolean {
  const failed = (side: Side): number => pairs.filter((pair) => pair[side] === null).length;
  return (failed('candidate') - failed('control')) / pairs.length >= LOST_SHARE_MIN;
}

function computeStatistic(values: readonly number[], statistic: string): number {
  return statistic === 'max'
    ? Math.max(...values)
    : values.reduce((sum, value) => sum + value, 0) / values.length;
}
