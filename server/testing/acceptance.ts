/** An application whose acceptance tests have outcomes known beforehand, and what tests do with them. */
import type { AcceptanceTest } from '@switchyard/contract/acceptance-tests.ts';
import { nodeApp, pushApp } from './apps.ts';
import { expectStatus, freshId, uploadContent } from './resources.ts';
import type { Answer, TestServer } from './server.ts';

/**
 * Its option `side` says which field of the input is the value. A field that is absent makes the run fail, null makes one
 * that succeeds without statistics, and "hangs" one that never ends by itself.
 */
const APP = nodeApp(`(input, { side }) => {
  const value = input[side];
  if (value === undefined) process.exit(1);
  if (value === 'hangs') return new Promise((resolve) => setInterval(() => {}, 1000));
  if (value === null) return {};
  return { statistics: { schema: 'v1', result: { value, custom: { doubled: 2 * value } } } };
}`);

/** Instances `control` and `candidate` of the version `v1`, each with its side; `latest` has none. */
export async function acceptanceApp(server: TestServer): Promise<string> {
  const application = freshId('accepting');
  await pushApp(server, application, APP);
  const params = { application_id: application };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
  for (const side of ['control', 'candidate'])
    await server.client.call('createInstance', {
      params,
      body: {
        id: side,
        name: `The ${side}`,
        version_id: 'v1',
        configuration: { options: { side } },
      },
    });
  return application;
}

/** What both sides answer to an input. */
export interface Sides {
  control?: unknown;
  candidate?: unknown;
}

/** An input set of these inputs; answers its id. */
export async function inputSetOf(
  server: TestServer,
  application: string,
  inputs: readonly Sides[],
): Promise<string> {
  const ids: { id: string }[] = [];
  for (const input of inputs) {
    const id = freshId('in');
    const upload_id = await uploadContent(server, application, JSON.stringify(input));
    expectStatus(
      await server.ask('POST', `/v1/applications/${application}/inputs`, { body: { id, upload_id } }),
      201,
    );
    ids.push({ id });
  }
  const set = freshId('set');
  const answer = await server.ask('POST', `/v1/applications/${application}/experiments/inputsets`, {
    body: { id: set, name: 'Any name', inputs: ids },
  });
  expectStatus(answer, 201);
  return set;
}

export const pathOf = (application: string, rest = ''): string =>
  `/v1/applications/${application}/experiments/acceptance${rest}`;

/** The mean of the candidate's values may not be above that of the control. */
export const MEAN = {
  field: 'result.value',
  statistic: 'mean',
  metric_type: 'direct-comparison',
  params: { operator: 'le' },
};

/** Asks for a test of the candidate against the control. */
export function askForTest(server: TestServer, application: string, body: object = {}): Promise<Answer> {
  return server.ask('POST', pathOf(application), {
    body: {
      name: 'Any name',
      control: { instance_id: 'control' },
      candidate: { instance_id: 'candidate' },
      metrics: [MEAN],
      ...body,
    },
  });
}

export async function makeTest(
  server: TestServer,
  application: string,
  body: object = {},
): Promise<AcceptanceTest> {
  const answer = await askForTest(server, application, { id: freshId('test'), ...body });
  expectStatus(answer, 201);
  return answer.body as AcceptanceTest;
}

export async function getTest(server: TestServer, application: string, id: string): Promise<AcceptanceTest> {
  const answer = await server.ask('GET', pathOf(application, `/${id}`));
  expectStatus(answer, 200);
  return answer.body as AcceptanceTest;
}

/** Waits until the test is decided and answers it. */
export function decided(server: TestServer, application: string, id: string): Promise<AcceptanceTest> {
  return server.until('experiments-ended', async () => {
    const test = await getTest(server, application, id);
    return test.status === 'started' ? null : test;
  });
}

/** A batch of both instances on the inputs; answers its id. */
export async function makeBatch(
  server: TestServer,
  application: string,
  inputs: readonly Sides[],
  body: object = {},
): Promise<string> {
  const id = freshId('batch');
  const input_set_id = await inputSetOf(server, application, inputs);
  const answer = await server.ask('POST', `/v1/applications/${application}/experiments/batch`, {
    body: { id, name: 'Any name', input_set_id, instance_ids: ['control', 'candidate'], ...body },
  });
  expectStatus(answer, 201);
  return id;
}
