/** The books of acceptance tests after the torture: what each decided, worked out again from the runs of its batch. */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';

type Row = Record<string, unknown>;

/** `made` are there and decided by all their runs, `runs` on each side; of `deleted` nothing is left. */
export async function checkAcceptanceTests(
  query: RunQuery,
  made: readonly string[],
  deleted: readonly string[],
  runs: number,
): Promise<string[]> {
  const wrong: string[] = [];
  const rows = await query('select * from acceptance_tests');
  const tests = new Map(rows.map((row) => [String(row.id), row]));
  const batches = new Map(
    (await query("select uid, id, status from experiments where kind = 'batch'")).map((row) => [
      row.uid,
      row,
    ]),
  );
  for (const id of made) {
    const test = tests.get(id);
    const batch = batches.get(test?.experiment_uid);
    if (!test) wrong.push(`the acceptance test ${id} was acknowledged and is not there`);
    else if (batch?.id !== id) wrong.push(`the acceptance test ${id} has no batch of its id`);
    else if (test.status !== batch.status)
      wrong.push(`the acceptance test ${id} is ${test.status} and its batch ${batch.status}`);
    else wrong.push(...(await wrongDecision(query, id, test, runs)));
  }
  for (const id of deleted)
    if (tests.has(id)) wrong.push(`the acceptance test ${id} was deleted and is there`);
  const [orphans] = await query(
    'select count(*) as count from runs where experiment_uid is not null and experiment_uid not in (select uid from experiments)',
  );
  if (Number(orphans?.count) > 0) wrong.push(`${orphans?.count} runs are of experiments that are gone`);
  return wrong;
}

async function wrongDecision(query: RunQuery, id: string, test: Row, runs: number): Promise<string[]> {
  const { control, candidate } = JSON.parse(String(test.definition)) as Record<
    string,
    { instance_id: string }
  >;
  const results = JSON.parse(String(test.metric_results ?? '[]')) as MetricResult[];
  const values = async (side: { instance_id: string } | undefined): Promise<number[]> => {
    const rows = await query(
      `select indicators from runs where experiment_uid = '${test.experiment_uid}' and instance_id = '${side?.instance_id}' and status = 'succeeded'`,
    );
    return rows.map(
      (row) => (JSON.parse(String(row.indicators)) as { value: number }[])[0]?.value ?? Number.NaN,
    );
  };
  const sides = { control: await values(control), candidate: await values(candidate) };
  const wrong = results.flatMap(({ metric, passed, statistics, control_value, candidate_value }) => {
    const told = { control: control_value, candidate: candidate_value };
    const found = (['control', 'candidate'] as const).flatMap((side) => {
      const { number_of_runs_total, distribution_summary_statistics } = statistics[side];
      const value = statisticOf(sides[side], metric.statistic);
      return number_of_runs_total === runs &&
        distribution_summary_statistics.count === sides[side].length &&
        Math.abs((told[side] ?? 0) - value) < 1e-9
        ? []
        : [`the acceptance test ${id} was not decided by the runs of its ${side}`];
    });
    // Equal inputs and equal apps: what differs are runs that failed because they were killed.
    const holds =
      statisticOf(sides.candidate, metric.statistic) <= statisticOf(sides.control, metric.statistic);
    if (passed !== holds) found.push(`the acceptance test ${id} took ${metric.statistic} for ${passed}`);
    return found;
  });
  if (results.length !== 2) wrong.push(`the acceptance test ${id} decided ${results.length} of 2 rules`);
  if (Number(test.passed) !== Number(results.every(({ passed }) => passed)))
    wrong.push(`the acceptance test ${id} is not what its rules say`);
  return wrong;
}

function statisticOf(values: readonly number[], statistic: string): number {
  return statistic === 'max'
    ? Math.max(...values)
    : values.reduce((sum, value) => sum + value, 0) / values.length;
}
