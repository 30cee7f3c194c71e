/** Experiments with known results, on a server that executes no run. */

import { createAcceptanceApp, createInputSet } from '@switchyard/server/testing/fixtures/acceptance-tests.ts';
import {
  createBatchExperiment,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import type { ChosenOutcome, ChosenRun } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import { endRuns } from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';

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

const OBJECTIVES = {
  'result.value': 'minimize',
  'result.custom.late': 'minimize',
};

/** Creates the batch experiment with this id and ends its runs. */
export async function prepareBatch(
  server: TestServer,
  { application, inputSet }: PreparedApplication,
  body: object,
): Promise<string> {
  const { id } = await createBatchExperiment(server, application, {
    input_set_id: inputSet,
    instance_ids: ['control', 'candidate'],
    objectives: OBJECTIVES,
    primary: 'result.value',
    ...body,
  });
  await endRuns(server, id, createOutcomes());
  await waitForBatchEnd(server, application, id);
  return id;
}
