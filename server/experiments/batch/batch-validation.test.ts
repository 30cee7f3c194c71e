/** Validation of new batch experiments: each refusal is a 400 that names the field and value, and changes nothing. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import type {
  ApplicationId,
  ExperimentId,
  InputSetId,
  InstanceId,
  KeyId,
} from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Contents } from '../../platform/blobs/contents.ts';
import { openDiskBlobs } from '../../platform/blobs/disk.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { systemRandom } from '../../platform/random.ts';
import {
  deleteInputSet,
  findInputSet,
  type InputSetWithItems,
  replaceInputSetItems,
} from '../../runs/input-sets/store.ts';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import {
  ARITHMETIC_APP,
  ARITHMETIC_APP_TYPE,
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import {
  createInstance,
  expectError,
  expectStatus,
  uniqueId,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { PropertyReader } from '../input-properties/property-reader.ts';
import { createBatch } from './create-batch.ts';

let server: TestServer;
let input: string;
beforeAll(async () => {
  server = await startTestServer();
  [input = ''] = await createExperimentApplication(server, 'app', { plain: {}, other: {} }, [{ size: 1 }]);
});
afterAll(() => server.close());

const postBatch = (body: object) =>
  server.request('POST', batchExperimentPath('app'), { body: { id: 'refused', name: 'Any name', ...body } });
/** Expects that the body gets a 400 with these parts of a message, and that no batch exists. */
async function expect400(body: object, ...messageParts: string[]): Promise<void> {
  expectError(await postBatch(body), 400, ...messageParts);
  expectError(await server.request('GET', batchExperimentPath('app', '/refused')), 404);
}
const withInstances = (body: object) => ({ input_set_id: 'sizes', instance_ids: ['plain'], ...body });
const withRuns = (...many: object[]) => ({ input_set_id: 'sizes', runs: many });
const run = { instance_id: 'plain' };

describe('400 for', () => {
  test('an invalid name, description or id, an unknown field or type', async () => {
    await expect400(withInstances({ name: 'ab' }), 'name');
    await expect400(withInstances({ name: 'x'.repeat(49) }), 'name');
    await expect400(withInstances({ description: 'x'.repeat(29) }), 'description', '30');
    await expect400(withInstances({ description: 'x'.repeat(129) }), 'description', '128');
    expectError(await postBatch(withInstances({ id: 'Not_an_id' })), 400, 'id is "Not_an_id"');
    await expect400(withInstances({ instance_idz: [] }), 'instance_idz', 'instance_ids');
    await expect400(withInstances({ type: 'shadow' }), 'type is "shadow"');
  });

  test('instance_ids and runs that are both absent, both given, or empty', async () => {
    await expect400({ input_set_id: 'sizes' }, 'instance_ids and runs are both absent');
    await expect400({ input_set_id: 'sizes', instance_ids: null, runs: null }, 'are both absent');
    await expect400(withInstances({ runs: [run] }), 'instance_ids and runs are both given');
    await expect400({ input_set_id: 'sizes', instance_ids: [] }, 'instance_ids is empty');
    await expect400(withRuns(), 'runs is empty');
  });

  test('an unknown or missing input set', async () => {
    await expect400(withInstances({ input_set_id: 'none' }), 'input_set_id is "none"');
    await expect400({ instance_ids: ['plain'] }, 'input_set_id is absent');
    await expect400({ runs: [{ ...run, input_set_id: 'sizes' }, run] }, 'runs.1.input_set_id is absent');
    await expect400(withRuns(run, { ...run, input_set_id: 'none' }), 'runs.1.input_set_id is "none"');
    const foreign = await createInstance(server);
    const body = { id: 'refused', name: 'Any name', input_set_id: 'sizes', instance_ids: ['i1'] };
    expectError(
      await server.request('POST', batchExperimentPath(foreign), { body }),
      400,
      'input_set_id is "sizes"',
    );
  });

  test('an input outside its input set', async () => {
    await expect400(
      withRuns({ ...run, input_id: 'monday' }),
      'runs.0.input_id is "monday"',
      'input set "sizes"',
    );
  });

  test('an unknown instance or version, and a run with neither', async () => {
    await expect400(withInstances({ instance_ids: ['plain', 'nowhere'] }), 'instance_ids.1 is "nowhere"');
    await expect400(withInstances({ instance_ids: [''] }), 'instance_ids.0 is ""');
    await expect400(withRuns(run, { instance_id: 'nowhere' }), 'runs.1.instance_id is "nowhere"');
    await expect400(withRuns({ ...run, version_id: 'v9' }), 'runs.0.version_id is "v9"');
    await expect400(withRuns({ version_id: 'v9' }), 'runs.0.version_id is "v9"');
    await expect400(withRuns({ input_id: input }), 'runs.0 has neither instance_id nor version_id');
    await expect400(withRuns({ instance_id: '', version_id: null }), 'runs.0 has neither');
  });

  test('a duplicate instance or run', async () => {
    await expect400(
      withInstances({ instance_ids: ['plain', 'other', 'plain'] }),
      'instance_ids.2 is "plain", which instance_ids.0 names already',
    );
    await expect400(
      withInstances({ instance_ids: ['latest', 'devint'] }),
      'instance_ids.1 is "devint", which instance_ids.0 names already',
    );
    await expect400(
      withRuns(run, { ...run, repetition: 1 }, { ...run, input_id: input }),
      'runs.2 requests the same run as runs.0',
    );
  });

  test('unknown option sets, and invalid keys and options', async () => {
    await expect400(withRuns({ ...run, option_set: 'fast' }), 'runs.0.option_set is "fast"', 'none is given');
    await expect400(
      { ...withRuns({ ...run, option_set: 'fast' }), option_sets: { slow: {} } },
      'runs.0.option_set is "fast"',
      'slow',
    );
    await expect400(
      { ...withRuns({ ...run, option_set: 'constructor' }), option_sets: { slow: {} } },
      '"constructor"',
    );
    for (const key of ['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 'a\0'])
      await expect400(withInstances({ option_sets: { [key]: {} } }), 'option_sets has the key', '1 to 128');
    await expect400(
      withInstances({ option_sets: { fast: { 'a-b': '1' } } }),
      'option_sets.fast has the option "a-b"',
    );
    await expect400(withInstances({ option_sets: { fast: { a: 'x'.repeat(8193) } } }), 'option_sets.fast.a');
    await expect400(withInstances({ option_sets: { fast: { a: [1] } } }), 'option_sets.fast.a');
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`k${index}`, {}]));
    await expect400(withInstances({ option_sets: many }), 'option_sets has 1001 sets');
    // Each of the 33 entries ends with a comma or the closing brace. The opening brace adds one character.
    const long = Array.from({ length: 33 }, (_, index) => [`k${10 + index}`, { a: 'x'.repeat(8000) }]);
    await expect400(
      withInstances({ option_sets: Object.fromEntries(long) }),
      `option_sets is ${33 * (8000 + '"k10":{"a":""},'.length) + 1} characters long`,
      '262144',
    );
  });

  test('invalid scenario ids and repetitions', async () => {
    await expect400(withRuns({ ...run, scenario_id: 'a b' }), 'runs.0.scenario_id is "a b"');
    await expect400(withRuns({ ...run, scenario_id: 'x'.repeat(65) }), 'runs.0.scenario_id');
    await expect400(withRuns({ ...run, repetition: -1 }), 'runs.0.repetition is -1');
    await expect400(withRuns({ ...run, repetition: 1.5 }), 'runs.0.repetition is 1.5');
    await expect400(withInstances({ repetitions: 0 }), 'repetitions is 0');
    await expect400({ ...withRuns(run), repetitions: 2 }, 'repetitions is 2, but runs is given');
  });

  test('more runs than the limit of a batch, in each form of request', async () => {
    await expect400(withInstances({ repetitions: 10_001 }), 'repetitions is 10001');
    await expect400(
      withInstances({ instance_ids: ['plain', 'other'], repetitions: 5001 }),
      '1 inputs on 2 instances with 1 option sets and 5001 repetitions are 10002 runs',
    );
    const sets = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, {}]));
    const names = Array.from({ length: 10_000 }, (_, index) => `i${index}`);
    await expect400(
      withInstances({ instance_ids: names, option_sets: sets }),
      '10000 instances with 1000 option sets are 10000000 runs on each input',
    );
    const many = Array.from({ length: 10_001 }, (_, repetition) => ({ ...run, repetition }));
    await expect400(withRuns(...many), 'runs has 10001 items');
  });

  test('options of all runs that together exceed the limit of a batch', async () => {
    const options = { a: 'x'.repeat(8000), b: 'x'.repeat(8000) };
    const each = JSON.stringify(options).length;
    await expect400(
      withInstances({ option_sets: { long: options }, repetitions: 5000 }),
      `The options of all 5000 runs`,
      `are ${5000 * each} characters long`,
      '67108864',
    );
  });

  test('objectives with an invalid indicator or value, and too many objectives', async () => {
    await expect400(withInstances({ objectives: { '': 'minimize' } }), 'objectives has the indicator ""');
    await expect400(withInstances({ objectives: { ['x'.repeat(256)]: 'minimize' } }), '1 to 255');
    await expect400(withInstances({ objectives: { a: 'best' } }), 'objectives.a is "best"');
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, 'minimize']));
    await expect400(withInstances({ objectives: many }), 'objectives has 101 indicators');
  });

  test('options that the app rejects, without the names of options hidden from the role', async () => {
    const options = {
      strict: true,
      validation: { enforce: 'all' },
      items: [
        { name: 'factor', option_type: 'float', additional_attributes: { min: 1, max: 10 } },
        { name: 'shift', option_type: 'int', ui: { hidden_from: ['operator'] } },
      ],
    };
    expect(await uploadContent(server, 'app', '{"size":1}')).not.toBe('');
    await pushApp(server, 'app', ARITHMETIC_APP, {
      ...ARITHMETIC_APP_TYPE,
      options,
    } as Partial<Requirements>);
    const latest = (set: object) =>
      withInstances({ instance_ids: ['plain', 'latest'], option_sets: { ok: {}, set } });
    await expect400(
      latest({ factor: 11 }),
      'option_sets.set',
      'instance "latest"',
      'options.factor is "11"',
      'at most 10',
    );
    await expect400(latest({ speed: 1 }), 'option_sets.set', 'options.speed is not an option of this app');
    const { token } = await server.createKey('operator');
    const response = await server.request('POST', batchExperimentPath('app'), {
      token,
      body: { id: 'refused', name: 'Any name', ...latest({ shift: 'x' }) },
    });
    expectError(response, 400, 'The run breaks a rule for an option that is hidden from some roles');
    expect(response.text).not.toContain('shift');
    const { id } = await createBatchExperiment(server, 'app', latest({ factor: 2 }));
    expect(await waitForBatchEnd(server, 'app', id)).toMatchObject({
      status: 'completed',
      number_of_runs: 4,
    });
  });

  test('an input in a format that the app does not accept', async () => {
    const format = { ...ARITHMETIC_APP_TYPE, io_configuration: { format: 'multi-file' } };
    await pushApp(server, 'files', ARITHMETIC_APP, format as Partial<Requirements>);
    const upload_id = await uploadContent(server, 'files', '{"size":1}');
    await server.client.call('createInput', {
      params: { application_id: 'files' },
      body: { id: 'text', upload_id, format: { input: { type: 'text' } } },
    });
    await server.client.call('createInputSet', {
      params: { application_id: 'files' },
      body: { id: 'texts', name: 'Texts', inputs: [{ id: 'text' }] },
    });
    const body = { id: 'refused', name: 'Any name', input_set_id: 'texts', instance_ids: ['latest'] };
    expectError(
      await server.request('POST', batchExperimentPath('files'), { body }),
      400,
      'The input "text" of the input set "texts" has the format text; the app of the instance "latest" takes multi-file',
    );
  });
});

test('404 for an unknown batch experiment, 403 for a role without the permission', async () => {
  for (const [method, rest] of [
    ['GET', '/none'],
    ['GET', '/none/runs'],
    ['GET', '/none/metadata'],
    ['DELETE', '/none'],
    ['PATCH', '/none'],
  ] as const)
    expectError(
      await server.request(
        method,
        batchExperimentPath('app', rest),
        method === 'PATCH' ? { body: { name: 'Any name' } } : {},
      ),
      404,
      'There is no batch experiment "none"',
    );
  for (const hostileId of ['%00', '../x', '\ud83d\ude9a', "x' or '1'='1", 'x'.repeat(300)])
    for (const rest of ['', '/runs', '/metadata'])
      expectError(
        await server.request('GET', batchExperimentPath('app', `/${encodeURIComponent(hostileId)}${rest}`)),
        404,
      );
  expectError(await server.request('GET', batchExperimentPath('app', '/%00')), 404);
  const { token } = await server.createKey('viewer');
  const body = { name: 'Any name', ...withInstances({}) };
  expectError(await server.request('POST', batchExperimentPath('app'), { body, token }), 403);
  expectStatus(await server.request('GET', batchExperimentPath('app'), { token }), 200);
});

test('a batch needs no description, and accepts an empty list of runs or instances beside the other', async () => {
  const created = await createBatchExperiment(server, 'app', {
    ...withInstances({}),
    runs: [],
    option_sets: null,
  });
  const listed = await createBatchExperiment(server, 'app', {
    ...withRuns({ version_id: 'v1' }),
    instance_ids: [],
  });
  expect(listed).toMatchObject({ instance_ids: [], input_set_id: 'sizes', number_of_requested_runs: 1 });
  for (const { id } of [created, listed])
    expect(await waitForBatchEnd(server, 'app', id)).toMatchObject({
      status: 'completed',
      number_of_runs: 1,
    });
});

describe('an input set that changes after its inputs are read and before the batch is inserted', () => {
  const findApplication = () =>
    server.runningServer.database.read
      .selectFrom('applications')
      .selectAll()
      .where('id', '=', 'app' as ApplicationId)
      .executeTakeFirstOrThrow();
  async function createSet(name: string, run: string): Promise<InputSetWithItems> {
    const id = uniqueId('set');
    const path = '/v1/applications/app/experiments/inputsets';
    expectStatus(await server.request('POST', path, { body: { id, name, run_ids: [run] } }), 201);
    const { uid } = await findApplication();
    const set = await findInputSet(server.runningServer.database.read, uid, id as InputSetId);
    if (!set) throw new Error(`There is no input set ${id}.`);
    return set;
  }

  /** Creates a batch of the set. `change` runs after the batch has read its inputs and before its transaction. */
  async function createBatchWhile(
    id: string,
    set: InputSetWithItems,
    change: (tx: Writer) => Promise<unknown>,
  ) {
    const { database } = server.runningServer;
    const { account_id: account, id: application_id } = await findApplication();
    const blobs = await openDiskBlobs(`${server.dataFolder}/blobs`);
    const contents = new Contents({ database, blobs, clock: systemClock, random: systemRandom });
    const contentIds = set.items.map((item) => item.content_id);
    // createBatch reads the clock once it has its inputs. SQLite commits transactions in the order of their start;
    // on PostgreSQL the transaction of the batch waits for the change.
    let changed: Promise<unknown> | undefined;
    const clock = {
      ...systemClock,
      now() {
        changed ??= database.transact(async (tx) => {
          await change(tx);
          await contents.remove(tx, contentIds);
        });
        return systemClock.now();
      },
    };
    await createBatch(
      { database, contents, clock, random: systemRandom, propertyReader: new PropertyReader({ contents }) },
      {
        caller: {
          account,
          key: 'key' as KeyId,
          name: 'any',
          role: 'admin',
          email: 'someone@example.com',
          owner: 'someone@example.com',
          session: null,
        },
        params: { application_id },
        body: {
          id: id as ExperimentId,
          name: 'Any name',
          input_set_id: set.id,
          instance_ids: ['plain' as InstanceId],
        },
      },
      (_, insert) =>
        database.transact(async (tx) => {
          if (database.kind === 'postgres') await changed;
          await insert(tx);
        }),
    );
  }

  test('runs with the changed inputs', async () => {
    const later = await createRun(server, 'app', { instance: 'plain', input: { size: 2 } });
    const [set, other] = [await createSet('To be changed', input), await createSet('Another', later)];
    await createBatchWhile('changed', set, async (tx) => {
      await deleteInputSet(tx, other.application_uid, other.id);
      await replaceInputSetItems(tx, set.uid, other.items);
    });
    const { runs } = await waitForBatchEnd(server, 'app', 'changed');
    expect(runs.map((run) => [run.input_id, run.status_v2])).toEqual([[later, 'succeeded']]);
  });

  test('is refused after its deletion', async () => {
    const set = await createSet('To be deleted', input);
    await expect(
      createBatchWhile('deleted', set, (tx) => deleteInputSet(tx, set.application_uid, set.id)),
    ).rejects.toThrow(`input_set_id is "${set.id}"; it must be an input set`);
    expectError(await server.request('GET', batchExperimentPath('app', '/deleted')), 404);
  });
});
