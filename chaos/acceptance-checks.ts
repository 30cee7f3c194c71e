/** Checks acceptance tests after the chaos test: computes each decision again from the runs of its batch. */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';

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

async function checkDecision(query: RunQuery, id: string, test: Row, runs: number): Promise<string[]> {
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
  const violations = results.flatMap(({ metric, passed, statistics, control_value, candidate_value }) => {
    const reported = { control: control_value, candidate: candidate_value };
    const found = (['control', 'candidate'] as const).flatMap((side) => {
      const { number_of_runs_total, distribution_summary_statistics } = statistics[side];
      const value = computeStatistic(sides[side], metric.statistic);
      return number_of_runs_total === runs &&
        distribution_summary_statistics.count === sides[side].length &&
        Math.abs((reported[side] ?? 0) - value) < 1e-9
        ? []
        : [`the acceptance test ${id} was not decided by the runs of its ${side}`];
    });
    // Inputs and apps are equal, so only runs that failed because they were killed make a difference.
    const holds =
      computeStatistic(sides.candidate, metric.statistic) <=
      computeStatistic(sides.control, metric.statistic);
    if (passed !== holds) found.push(`the acceptance test ${id} evaluates ${metric.statistic} as ${passed}`);
    return found;
  });
  if (results.length !== 2) violations.push(`the acceptance test ${id} has ${results.length} of 2 results`);
  if (Number(test.passed) !== Number(results.every(({ passed }) => passed)))
    violations.push(`the result of the acceptance test ${id} contradicts its rules`);
  return violations;
}

function computeStatistic(values: readonly number[], statistic: string): number {
  return statistic === 'max'
    ? Math.max(...values)
    : values.reduce((sum, value) => sum + value, 0) / values.length;
}
