/** Experiments with known results, on a server that executes no run. */

import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { createAcceptanceApp, createInputSet } from '@switchyard/server/testing/fixtures/acceptance-tests.ts';
import {
  createBatchExperiment,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import type { ChosenOutcome, ChosenRun } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import { endRuns } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { expect, vi } from 'vitest';

export const HOSTILE_NAME = `<img src=x onerror="document.title='hacked'">`;
export const INPUTS = 12;

/** The application with its input set of `INPUTS` inputs. */
export interface PreparedApplication {
  application: string;
  inputSet: string;
}

/** Creates the application with the instances `control` and `candidate`. */
export async function prepareApplication(server: TestServer): Promise<PreparedApplication> {
  const application = await createAcceptanceApp(server);
  const inputSet = await createInputSet(
    server,
    application,
    Array.from({ length: INPUTS }, (_, size) => ({ control: size })),
  );
  return { application, inputSet };
}

/** Numbers the inputs of an experiment in the order in which it first runs them. */
function createPlaces(): (run: ChosenRun) => number {
  const places = new Map<string, number>();
  return ({ input_id }) => {
    const place = places.get(input_id) ?? places.size;
    places.set(input_id, place);
    return place;
  };
}

/** The candidate is 4 to 15 % cheaper on eleven inputs, and equal on one. It takes twice as long. */
export function createOutcomes(): (run: ChosenRun) => ChosenOutcome {
  const findPlace = createPlaces();
  return (run) => {
    const place = findPlace(run);
    const isCandidate = run.instance_id === 'candidate';
    const cost = 1000 + 10 * place;
    return {
      indicators: {
        'result.value': isCandidate && place > 0 ? cost * (0.96 - place / 100) : cost,
        'result.custom.late': isCandidate ? place % 3 : place % 2,
        'result.custom.seconds': (isCandidate ? 2 : 1) * (1 + place / 10),
      },
    };
  };
}

/** Three groups of four inputs with about the same value, in each of which the candidate has another change. */
export function createVersions(): (run: ChosenRun) => ChosenOutcome {
  const findPlace = createPlaces();
  return (run) => {
    const place = findPlace(run);
    const group = place % 3;
    const cost = 1000 * 2 ** group + place;
    const change = run.instance_id === 'candidate' ? [-0.1, 0.08, -0.04][group] : 0;
    return { indicators: { 'result.value': cost * (1 + (change ?? 0)) } };
  };
}

/** The candidate costs as much as the control, and fails on the first input. */
export function createOutcomesWithFailure(): (run: ChosenRun) => ChosenOutcome {
  const findPlace = createPlaces();
  return (run) => {
    const place = findPlace(run);
    if (place === 0 && run.instance_id === 'candidate') return { status: 'failed' };
    return { indicators: { 'result.value': 100 } };
  };
}

const OBJECTIVES = {
  'result.value': 'minimize',
  'result.custom.late': 'minimize',
};

/** Creates the batch experiment with this id and ends its runs. */
export async function prepareBatch(
  server: TestServer,
  { application, inputSet }: PreparedApplication,
  body: object,
  choose = createOutcomes(),
): Promise<string> {
  const { id } = await createBatchExperiment(server, application, {
    input_set_id: inputSet,
    instance_ids: ['control', 'candidate'],
    objectives: OBJECTIVES,
    primary: 'result.value',
    ...body,
  });
  await endRuns(server, id, choose);
  await waitForBatchEnd(server, application, id);
  return id;
}

/** Shares of the cost of the control, by scenario. */
const RACED_COSTS: Record<string, number> = { control: 1, good: 0.9, bad: 1.3 };

/** Races three scenarios to the end: the race drops the one that costs 30 % more after ten of the inputs. */
export async function prepareRace(
  server: TestServer,
  { application, inputSet }: PreparedApplication,
  id: string,
): Promise<void> {
  await createBatchExperiment(server, application, {
    id,
    name: 'Which scenario',
    type: 'scenario',
    input_set_id: inputSet,
    runs: Object.keys(RACED_COSTS).map((scenario_id) => ({ instance_id: 'control', scenario_id })),
    objectives: { 'result.value': 'minimize' },
    racing: {},
  });
  const findPlace = createPlaces();
  const params = { application_id: application, batch_id: id as ExperimentId };
  const isEnded = async () =>
    isExperimentTerminal((await server.client.call('getBatchExperimentMetadata', { params })).body.status);
  // The race plans the runs on the last inputs when those on the first ten have ended.
  await vi.waitFor(
    async () => {
      await endRuns(server, id, (run) => ({
        indicators: { 'result.value': (100 + findPlace(run)) * (RACED_COSTS[run.scenario_id ?? ''] ?? 1) },
      }));
      expect(await isEnded()).toBe(true);
    },
    { timeout: 20_000, interval: 50 },
  );
}
