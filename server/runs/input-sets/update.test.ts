/** Updates of input sets, and the independence of a set from its sources. */
import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uniqueId, uploadContent } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { countRowsByTable, listBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Above the limit for content in the database, so that it is a blob. */
const PADDING = 'x'.repeat(70_000);
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
const application = '/v1/applications/app';
const path = `${application}/experiments/inputsets`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(server, 'app', nodeApp('() => ({})'));
});
afterAll(() => server.close());

async function createManagedInput(): Promise<string> {
  const id = uniqueId('in');
  const upload_id = await uploadContent(server, 'app', JSON.stringify({ id, PADDING }));
  const body = { id, name: `Input ${id}`, upload_id };
  expectStatus(await server.request('POST', `${application}/inputs`, { body }), 201);
  return id;
}
const referTo = (...ids: (string | undefined)[]) => ids.map((id) => ({ id }));
async function createSet(body: object): Promise<InputSet> {
  const response = await server.request('POST', path, {
    body: { id: uniqueId('set'), name: 'Any name', ...body },
  });
  expectStatus(response, 201);
  return response.body as InputSet;
}
const put = (id: string, body: unknown) => server.request('PUT', `${path}/${id}`, { body });
async function updateSet(id: string, body: unknown): Promise<InputSet> {
  const response = await put(id, body);
  expectStatus(response, 200);
  return response.body as InputSet;
}
async function get(id: string): Promise<InputSet> {
  const response = await server.request('GET', `${path}/${id}`);
  expectStatus(response, 200);
  return response.body as InputSet;
}
const remove = (rest: string) => server.request('DELETE', `${application}/${rest}`);
/** Reads the contents of the set, each of which names its source. */
async function readContents({ inputs }: InputSet): Promise<unknown[]> {
  const responses = await Promise.all(
    inputs.map((one) => server.request('GET', one.download_url ?? '', { token: null })),
  );
  return responses.map((response) => (response.body as { id?: unknown }).id);
}
/** Returns the set without its URLs, which depend on the time of the response. */
const omitUrls = ({ inputs, ...set }: InputSet) => ({
  ...set,
  inputs: inputs.map(({ download_url: _, ...one }) => one),
});

describe('an input set outlives', () => {
  test('its source runs', async () => {
    const runs = [
      await createRunAndWait(server, 'app', { input: { id: 'small' }, body: { name: 'Small' } }),
      await createRunAndWait(server, 'app', { input: { id: 'large', PADDING } }),
    ];
    const set = await createSet({ run_ids: runs.map((run) => run.id) });
    for (const run of runs) expectStatus(await remove(`runs/${run.id}`), 204);
    const after = await get(set.id);
    expect(omitUrls(after)).toEqual(omitUrls(set));
    expect(await readContents(after)).toEqual(['small', 'large']);
    expectError(
      await server.request('POST', path, { body: { name: 'Any name', run_ids: [runs[0]?.id] } }),
      400,
      'run_ids.0',
    );
  });

  test('its managed inputs, also one whose id was reused', async () => {
    const [first, second] = [await createManagedInput(), await createManagedInput()];
    const set = await createSet({ inputs: referTo(first, second) });
    expectStatus(
      await server.request('PUT', `${application}/inputs/${first}`, { body: { name: 'New' } }),
      204,
    );
    for (const id of [first, second]) expectStatus(await remove(`inputs/${id}`), 204);
    const upload_id = await uploadContent(server, 'app', '{"id":"another"}');
    const body = { id: second, upload_id };
    expectStatus(await server.request('POST', `${application}/inputs`, { body }), 201);
    const after = await get(set.id);
    expect(omitUrls(after)).toEqual(omitUrls(set));
    expect(await readContents(after)).toEqual([first, second]);
    // An update keeps the stored input. After its removal from the set, the id refers to the new input.
    const third = await createManagedInput();
    await updateSet(set.id, { inputs: referTo(second, third) });
    expect(await readContents(await get(set.id))).toEqual([second, third]);
    await updateSet(set.id, { inputs: referTo(third) });
    await updateSet(set.id, { inputs: referTo(second) });
    expect(await readContents(await get(set.id))).toEqual(['another']);
  });

  test('the instance of its runs', async () => {
    const { client } = server;
    const params = { application_id: 'app' };
    await client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
    await client.call('createInstance', {
      params,
      body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
    });
    await createRunAndWait(server, 'app', { instance: 'i1', input: {} });
    const set = await createSet({ instance_id: 'i1' });
    expectStatus(await remove('instances/i1'), 204);
    expect(omitUrls(await get(set.id))).toEqual(omitUrls(set));
    // The runs still exist.
    expect((await createSet({ instance_id: 'i1' })).input_ids).toEqual(set.input_ids);
  });
});

describe('changing an input set', () => {
  test('updates name and description; the whole object sent back changes nothing', async () => {
    const run = await createRun(server, 'app', { input: { id: 'from a run' } });
    const input = await createManagedInput();
    for (const body of [{ inputs: referTo(input) }, { run_ids: [run] }]) {
      const before = await createSet({ description: 'Told', ...body });
      clock.advance(1000);
      expect(omitUrls(await updateSet(before.id, before))).toEqual(omitUrls(before));
      const readOnlyFields = { created_at: 0, more: 1 };
      const after = await updateSet(before.id, { ...before, ...readOnlyFields, name: 'Another' });
      expect(omitUrls(after)).toEqual({
        ...omitUrls(before),
        name: 'Another',
        updated_at: new Date(Date.parse(before.updated_at) + 1000).toISOString(),
      });
      expect(omitUrls(await updateSet(before.id, { name: null, inputs: null, description: '' }))).toEqual({
        ...omitUrls(after),
        description: '',
        // Later than the update before, although the clock stands still.
        updated_at: new Date(Date.parse(after.updated_at) + 1).toISOString(),
      });
      expect(await readContents(await get(before.id))).toEqual('run_ids' in body ? ['from a run'] : [input]);
    }
  });

  test('with inputs replaces its inputs in their order and removes unused contents', async () => {
    const run = await createRun(server, 'app', { input: { id: 'of a run', PADDING } });
    await waitForRunEnd(server, 'app', run);
    const [one, two] = [await createManagedInput(), await createManagedInput()];
    const set = await createSet({ run_ids: [run] });
    const blobs = listBlobs(server).length;
    const more = await updateSet(set.id, { inputs: referTo(two, run, one) });
    expect(more.input_ids).toEqual([two, run, one]);
    expect(await readContents(more)).toEqual([two, 'of a run', one]);
    const remaining = more.inputs[1]?.download_url ?? '';
    const reordered = await updateSet(set.id, { inputs: referTo(run, one, two) });
    expect(await readContents(reordered)).toEqual(['of a run', one, two]);
    expectStatus(await server.request('GET', remaining, { token: null }), 200);
    // The update copies no content, and removes content without other users.
    expect(listBlobs(server)).toHaveLength(blobs);
    for (const rest of [`runs/${run}`, `inputs/${one}`]) expectStatus(await remove(rest), 204);
    const { contents } = await countRowsByTable(server);
    const last = await updateSet(set.id, { inputs: referTo(two) });
    expect(await readContents(last)).toEqual([two]);
    expect((await countRowsByTable(server)).contents).toBe((contents ?? 0) - 2);
    expectStatus(await server.request('GET', remaining, { token: null }), 404);
    // The upload of the managed input exists for a day.
    expect(listBlobs(server)).toHaveLength(blobs - 1);
    expectError(await put(set.id, { inputs: referTo(two, run) }), 400, `inputs.1.id is "${run}"`, 'managed');
  });

  test('clears the instance when another input is added', async () => {
    const run = await createRunAndWait(server, 'app', { instance: 'latest', input: {} });
    const set = await createSet({ instance_id: 'latest', maximum_runs: 5 });
    expect(set.input_ids).toContain(run.id);
    expect(await updateSet(set.id, { inputs: referTo(run.id) })).toMatchObject({ instance_id: 'latest' });
    const input = await createManagedInput();
    expect(await updateSet(set.id, { inputs: referTo(run.id, input) })).not.toHaveProperty('instance_id');
    expect(await updateSet(set.id, { inputs: referTo(run.id) })).not.toHaveProperty('instance_id');
  });

  test('nothing changes with a 400', async () => {
    const input = await createManagedInput();
    const set = await createSet({ inputs: referTo(input) });
    for (const [body, ...words] of [
      [{ inputs: [] }, 'inputs has 0 items'],
      [{ inputs: referTo(...Array.from({ length: 501 }, (_, n) => `in-${n}`)) }, 'inputs has 501 items'],
      [{ inputs: referTo(input, input) }, `inputs.1.id is "${input}", as inputs.0.id is`],
      [{ inputs: referTo(input, 'missing'), name: 'New name' }, 'inputs.1.id is "missing"'],
      [{ inputs: ['x'] }, 'inputs.0'],
      [{ name: 'ab' }, 'name is'],
      [{ name: 'x'.repeat(65) }, 'name is'],
      [{ description: 'x'.repeat(257) }, 'description is'],
    ] as const)
      expectError(await put(set.id, body), 400, ...words);
    expect(omitUrls(await get(set.id))).toEqual(omitUrls(set));
  });

  test('404 for a missing set', async () => {
    expectError(await put('missing', { name: 'Any name' }), 404);
    expectError(await put('missing', { inputs: referTo(await createManagedInput()) }), 404);
  });
});
