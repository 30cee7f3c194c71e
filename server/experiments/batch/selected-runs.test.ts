/**
 * Batches and acceptance tests whose runs somebody selects, through HTTP: repetitions that are deleted or canceled, and runs
 * that join. The server executes no run: each test chooses the outcomes of two equal sides.
 */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createInputSet,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { createRun } from '../../testing/fixtures/apps.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  waitForBatchEnd,
  waitForSubmission,
} from '../../testing/fixtures/batch-experiments.ts';
import {
  type ChosenOutcome,
  type ChosenRun,
  endRuns,
  WITHOUT_EXECUTION,
} from '../../testing/fixtures/chosen-outcomes.ts';
import { expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INPUTS = 12;

let server: TestServer;
let application: string;
let set: string;
let inputs: readonly string[];
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  set = await createInputSet(
    server,
    application,
    Array.from({ length: INPUTS }, (_, control) => ({ control })),
  );
  const params = { application_id: application, input_set_id: set as InputSetId };
  inputs = (await server.client.call('getInputSet', { params })).body.input_ids;
});
afterAll(() => server.close());

const NON_INFERIORITY = {
  ...MEAN_METRIC,
  hypothesis: 'non-inferiority',
  params: { operator: 'le', tolerance: { type: 'relative', value: 0.01 } },
};

/** A repetition of the candidate is 5 % better, 5 % better or 12 % worse than the control: it is worse on average. */
const FACTORS = [0.95, 0.95, 1.12];

function chooseByRepetition({ instance_id, input_id, repetition = 0 }: ChosenRun): ChosenOutcome {
  const control = 100 + inputs.indexOf(input_id);
  const factor = instance_id === 'control' ? 1 : (FACTORS[repetition] ?? 1);
  return { indicators: { 'result.value': control * factor } };
}

interface Started {
  id: string;
  test: string;
  runs: ExperimentRun[];
}

/** Starts a batch of both instances with an acceptance test on it, and returns their runs. */
async function start(repetitions: number): Promise<Started> {
  const { id } = await createBatchExperiment(server, application, {
    input_set_id: set,
    instance_ids: ['control', 'candidate'],
    objectives: { 'result.value': 'minimize' },
    repetitions,
  });
  const test = await createAcceptanceTest(server, application, {
    experiment_id: id,
    metrics: [MEAN_METRIC, NON_INFERIORITY],
  });
  await waitForSubmission(server, id);
  const { body } = await server.request('GET', batchExperimentPath(application, `/${id}/runs`));
  return { id, test: test.id, runs: (body as { runs: ExperimentRun[] }).runs };
}

async function finish({ id, test }: Started, choose: (run: ChosenRun) => ChosenOutcome) {
  await endRuns(server, id, choose);
  const batch = await waitForBatchEnd(server, application, id);
  const { results } = await waitForDecision(server, application, test);
  return { comparison: findComparison(batch), rules: results?.metric_results ?? [], batch };
}

function findComparison({ comparisons }: BatchExperiment): Comparison {
  const found = comparisons[0]?.indicators.find(({ indicator }) => indicator === 'result.value');
  if (!found) throw new Error('The batch does not compare result.value.');
  return found;
}

const requestRun = async (method: string, id: string, rest = '') =>
  expectStatus(await server.request(method, `/v1/applications/${application}/runs/${id}${rest}`), 204);

describe('a candidate that is worse in its third repetition is not better', () => {
  const ends: [name: string, method: string, rest: string, sides: string[]][] = [
    ['deletes those of the candidate', 'DELETE', '', ['candidate']],
    ['deletes those of both sides', 'DELETE', '', ['control', 'candidate']],
    ['cancels those of the candidate', 'PATCH', '/cancel', ['candidate']],
  ];
  test.each(ends)('when somebody %s', async (_name, method, rest, sides) => {
    const started = await start(FACTORS.length);
    const selected = started.runs.filter(
      (run) => run.repetition === FACTORS.length - 1 && sides.includes(run.instance_id),
    );
    expect(selected).toHaveLength(INPUTS * sides.length);
    for (const { id } of selected) await requestRun(method, id, rest);
    const { comparison, rules } = await finish(started, chooseByRepetition);
    expect(comparison.verdict).toBe('undecided');
    const lost = `${INPUTS} of ${FACTORS.length * INPUTS} pairs of runs have no outcome because runs were canceled or deleted`;
    expect(comparison.reasons.join(' ')).toContain(lost);
    for (const { passed, reason, warnings } of rules) {
      expect({ passed, warnings }).toEqual({ passed: false, warnings: [] });
      expect(reason).toMatch(/canceled/);
    }
  });
});

test('a few deleted repetitions leave the verdict, with a warning', async () => {
  const started = await start(10);
  const [first] = started.runs.filter(({ instance_id }) => instance_id === 'candidate');
  await requestRun('DELETE', first?.id ?? '');
  const { comparison } = await finish(started, ({ instance_id, input_id }) => ({
    indicators: { 'result.value': (100 + inputs.indexOf(input_id)) * (instance_id === 'control' ? 1 : 0.9) },
  }));
  expect(comparison).toMatchObject({ verdict: 'better', pairs: { total: 10 * INPUTS - 1 } });
  expect(comparison.warnings).toContain(
    '1 run of the candidate (instance "candidate", version "v1") was deleted and is left out.',
  );
});

test('a side whose instance was changed while its runs were created has no verdict', async () => {
  const started = await start(1);
  const changed = started.runs.filter(
    ({ instance_id, input_id }) => instance_id === 'candidate' && inputs.indexOf(input_id ?? '') % 2 === 0,
  );
  // The settings that an edit of the instance between two of its runs would give the later ones.
  const options_summary = JSON.stringify([{ name: 'limit', value: '9', source: 'instance' }]);
  await server.runningServer.database.transact((tx) =>
    tx
      .updateTable('runs')
      .set({ options_summary })
      .where(
        'id',
        'in',
        changed.map(({ id }) => id),
      )
      .execute(),
  );
  const { comparison, rules } = await finish(started, ({ instance_id, input_id }) => ({
    indicators: { 'result.value': (100 + inputs.indexOf(input_id)) * (instance_id === 'control' ? 1 : 0.9) },
  }));
  expect(comparison).toMatchObject({ verdict: 'undecided', inputs: { wins: INPUTS } });
  expect(comparison.reasons.join(' ')).toContain('of the candidate had different executables or settings');
  for (const { passed, reason } of rules) {
    expect(passed).toBe(false);
    expect(reason).toContain('of the candidate had different executables or settings');
  }
});

describe('runs that join do not decide', () => {
  const join = async (batch: string, instance: string, input_id: string, value: number) => {
    const statistics = { schema: 'v1', result: { value } };
    const statistics_upload_id = await uploadContent(server, application, JSON.stringify({ statistics }));
    return createRun(server, application, {
      instance,
      body: {
        batch_experiment_id: batch,
        input_id,
        configuration: { run_type: { type: 'external' } },
        result: { status: 'succeeded', statistics_upload_id },
      },
    });
  };
  const chooseEqual = ({ input_id }: ChosenRun): ChosenOutcome => ({
    indicators: { 'result.value': 100 + inputs.indexOf(input_id) },
  });

  test('where runs of the plan do: better values and repeated failures change nothing', async () => {
    const started = await start(1);
    for (const input of inputs) await join(started.id, 'candidate', input, 50);
    const { comparison, rules, batch } = await finish(started, (run) =>
      run.instance_id === 'candidate' && run.input_id === inputs[0] ? { status: 'failed' } : chooseEqual(run),
    );
    expect(comparison).toMatchObject({
      verdict: 'undecided',
      inputs: { total: INPUTS, wins: 0, ties: INPUTS - 1, losses: 1 },
      failures: { candidate_only: 1 },
    });
    expect(rules.map(({ passed }) => passed)).toEqual([false, false]);
    expect(batch.warnings).toContain(
      `${INPUTS} runs joined the experiment outside of its plan. They count in the distributions, and not in the comparisons.`,
    );
    const [control, candidate] = batch.grouped_distributional_summaries;
    expect([control?.runs.total, candidate?.runs.total].sort()).toEqual([INPUTS, 2 * INPUTS].sort());
  });

  test('where no run of the plan is on a side, because somebody chose them', async () => {
    const { id } = await createBatchExperiment(server, application, {
      input_set_id: set,
      instance_ids: ['control'],
      objectives: { 'result.value': 'minimize' },
    });
    for (const input of inputs) await join(id, 'candidate', input, 50);
    const test = await createAcceptanceTest(server, application, {
      experiment_id: id,
      metrics: [NON_INFERIORITY],
    });
    const { comparison, rules } = await finish({ id, test: test.id, runs: [] }, chooseEqual);
    expect(comparison).toMatchObject({ verdict: 'undecided', inputs: { wins: INPUTS } });
    const reason =
      'All runs of the candidate joined the experiment outside of its plan: somebody chose them, perhaps after results were known, so there is no verdict.';
    expect(comparison.reasons).toContain(reason);
    expect(rules[0]).toMatchObject({ passed: false, reason: expect.stringContaining(reason) });
  });
});
