/** What changes in an input set and what never does: the set holds its inputs by itself. */
import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../testing/fixtures/apps.ts';
import { expectError, expectStatus, uniqueId, uploadContent } from '../testing/fixtures/resources.ts';
import { createManualClock } from '../testing/host/manual-clock.ts';
import { countRowsByTable, listBlobs } from '../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';

/** More than fits into the database, so that it is a blob. */
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

async function managed(): Promise<string> {
  const id = uniqueId('in');
  const upload_id = await uploadContent(server, 'app', JSON.stringify({ id, PADDING }));
  const body = { id, name: `Input ${id}`, upload_id };
  expectStatus(await server.request('POST', `${application}/inputs`, { body }), 201);
  return id;
}
const named = (...ids: (string | undefined)[]) => ids.map((id) => ({ id }));
async function made(body: object): Promise<InputSet> {
  const response = await server.request('POST', path, {
    body: { id: uniqueId('set'), name: 'Any name', ...body },
  });
  expectStatus(response, 201);
  return response.body as InputSet;
}
const put = (id: string, body: unknown) => server.request('PUT', `${path}/${id}`, { body });
async function changed(id: string, body: unknown): Promise<InputSet> {
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
/** What stands in the contents, each of which says whose it is. */
async function contentsOf({ inputs }: InputSet): Promise<unknown[]> {
  const responses = await Promise.all(
    inputs.map((one) => server.request('GET', one.download_url ?? '', { token: null })),
  );
  return responses.map((response) => (response.body as { id?: unknown }).id);
}
/** The set but for the URLs, which name the moment they were made in. */
const still = ({ inputs, ...set }: InputSet) => ({
  ...set,
  inputs: inputs.map(({ download_url: _, ...one }) => one),
});

describe('an input set outlives', () => {
  test('the runs it was made of', async () => {
    const runs = [
      await createRunAndWait(server, 'app', { input: { id: 'small' }, body: { name: 'Small' } }),
      await createRunAndWait(server, 'app', { input: { id: 'large', PADDING } }),
    ];
    const set = await made({ run_ids: runs.map((run) => run.id) });
    for (const run of runs) expectStatus(await remove(`runs/${run.id}`), 204);
    const after = await get(set.id);
    expect(still(after)).toEqual(still(set));
    expect(await contentsOf(after)).toEqual(['small', 'large']);
    expectError(
      await server.request('POST', path, { body: { name: 'Any name', run_ids: [runs[0]?.id] } }),
      400,
      'run_ids.0',
    );
  });

  test('the managed inputs it was made of, also one that another has the id of now', async () => {
    const [first, second] = [await managed(), await managed()];
    const set = await made({ inputs: named(first, second) });
    expectStatus(
      await server.request('PUT', `${application}/inputs/${first}`, { body: { name: 'New' } }),
      204,
    );
    for (const id of [first, second]) expectStatus(await remove(`inputs/${id}`), 204);
    const upload_id = await uploadContent(server, 'app', '{"id":"another"}');
    const body = { id: second, upload_id };
    expectStatus(await server.request('POST', `${application}/inputs`, { body }), 201);
    const after = await get(set.id);
    expect(still(after)).toEqual(still(set));
    expect(await contentsOf(after)).toEqual([first, second]);
    // Sent back it stays as it is held; named anew, after it has left, the id means the other.
    const third = await managed();
    await changed(set.id, { inputs: named(second, third) });
    expect(await contentsOf(await get(set.id))).toEqual([second, third]);
    await changed(set.id, { inputs: named(third) });
    await changed(set.id, { inputs: named(second) });
    expect(await contentsOf(await get(set.id))).toEqual(['another']);
  });

  test('the instance whose runs it has', async () => {
    const { client } = server;
    const params = { application_id: 'app' };
    await client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
    await client.call('createInstance', {
      params,
      body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
    });
    await createRunAndWait(server, 'app', { instance: 'i1', input: {} });
    const set = await made({ instance_id: 'i1' });
    expectStatus(await remove('instances/i1'), 204);
    expect(still(await get(set.id))).toEqual(still(set));
    // The runs are there still.
    expect((await made({ instance_id: 'i1' })).input_ids).toEqual(set.input_ids);
  });
});

describe('changing an input set', () => {
  test('takes name and description, and of the whole object sent back nothing changes', async () => {
    const run = await createRun(server, 'app', { input: { id: 'from a run' } });
    const input = await managed();
    for (const body of [{ inputs: named(input) }, { run_ids: [run] }]) {
      const before = await made({ description: 'Told', ...body });
      clock.advance(1000);
      expect(still(await changed(before.id, before))).toEqual(still(before));
      const odd = { id: 'x', input_ids: [], instance_id: 'x', app_id: 7, created_at: 0, more: 1 };
      const after = await changed(before.id, { ...before, ...odd, name: 'Another' });
      expect(still(after)).toEqual({
        ...still(before),
        name: 'Another',
        updated_at: new Date(Date.parse(before.updated_at) + 1000).toISOString(),
      });
      expect(still(await changed(before.id, { name: null, inputs: null, description: '' }))).toEqual({
        ...still(after),
        description: '',
      });
      expect(await contentsOf(await get(before.id))).toEqual('run_ids' in body ? ['from a run'] : [input]);
    }
  });

  test('with inputs makes them all that it has, in their order, and keeps no content of what left', async () => {
    const run = await createRun(server, 'app', { input: { id: 'of a run', PADDING } });
    await waitForRunEnd(server, 'app', run);
    const [one, two] = [await managed(), await managed()];
    const set = await made({ run_ids: [run] });
    const blobs = listBlobs(server).length;
    const more = await changed(set.id, { inputs: named(two, run, one) });
    expect(more.input_ids).toEqual([two, run, one]);
    expect(await contentsOf(more)).toEqual([two, 'of a run', one]);
    const kept = more.inputs[1]?.download_url ?? '';
    const turned = await changed(set.id, { inputs: named(run, one, two) });
    expect(await contentsOf(turned)).toEqual(['of a run', one, two]);
    expectStatus(await server.request('GET', kept, { token: null }), 200);
    // Nothing was copied, and what nobody else has is gone once it leaves.
    expect(listBlobs(server)).toHaveLength(blobs);
    for (const rest of [`runs/${run}`, `inputs/${one}`]) expectStatus(await remove(rest), 204);
    const { contents } = await countRowsByTable(server);
    const last = await changed(set.id, { inputs: named(two) });
    expect(await contentsOf(last)).toEqual([two]);
    expect((await countRowsByTable(server)).contents).toBe((contents ?? 0) - 2);
    expectStatus(await server.request('GET', kept, { token: null }), 404);
    // The upload of the managed input is still there, for a day.
    expect(listBlobs(server)).toHaveLength(blobs - 1);
    expectError(await put(set.id, { inputs: named(two, run) }), 400, `inputs.1.id is "${run}"`, 'managed');
  });

  test('forgets the instance once it takes what is not of it', async () => {
    const run = await createRunAndWait(server, 'app', { instance: 'latest', input: {} });
    const set = await made({ instance_id: 'latest', maximum_runs: 5 });
    expect(set.input_ids).toContain(run.id);
    expect(await changed(set.id, { inputs: named(run.id) })).toMatchObject({ instance_id: 'latest' });
    const input = await managed();
    expect(await changed(set.id, { inputs: named(run.id, input) })).not.toHaveProperty('instance_id');
    expect(await changed(set.id, { inputs: named(run.id) })).not.toHaveProperty('instance_id');
  });

  test('400 changes nothing', async () => {
    const input = await managed();
    const set = await made({ inputs: named(input) });
    for (const [body, ...words] of [
      [{ inputs: [] }, 'inputs has 0 items'],
      [{ inputs: named(...Array.from({ length: 501 }, (_, n) => `in-${n}`)) }, 'inputs has 501 items'],
      [{ inputs: named(input, input) }, `inputs.1.id is "${input}", as inputs.0.id is`],
      [{ inputs: named(input, 'missing'), name: 'New name' }, 'inputs.1.id is "missing"'],
      [{ inputs: ['x'] }, 'inputs.0'],
      [{ name: 'ab' }, 'name is'],
      [{ name: 'x'.repeat(65) }, 'name is'],
      [{ description: 'x'.repeat(257) }, 'description is'],
    ] as const)
      expectError(await put(set.id, body), 400, ...words);
    expect(still(await get(set.id))).toEqual(still(set));
  });

  test('404 where there is none', async () => {
    expectError(await put('missing', { name: 'Any name' }), 404);
    expectError(await put('missing', { inputs: named(await managed()) }), 404);
  });
});

describe('at the same moment', () => {
  test('as a run or a managed input is deleted, a set is whole or refused', async () => {
    for (let round = 0; round < 6; round += 1) {
      const run = await createRun(server, 'app', { input: { id: 'run', PADDING } });
      await waitForRunEnd(server, 'app', run);
      const input = await managed();
      const id = uniqueId('set');
      const body = { name: 'Any name' };
      const [ofRun, ofInput] = await Promise.all([
        server.request('POST', path, { body: { ...body, id, run_ids: [run] } }),
        server.request('POST', path, { body: { ...body, id: `${id}-in`, inputs: named(input) } }),
        remove(`runs/${run}`),
        remove(`inputs/${input}`),
      ]);
      for (const [response, one, whose, field] of [
        [ofRun, id, 'run', `run_ids.0 is "${run}"`],
        [ofInput, `${id}-in`, input, `inputs.0.id is "${input}"`],
      ] as const) {
        if (response.status === 201) expect(await contentsOf(await get(one))).toEqual([whose]);
        else {
          expectError(response, 400, field);
          expectError(await server.request('GET', `${path}/${one}`), 404);
        }
      }
    }
  });

  test('as runs are deleted, a set of an instance has those that are left', async () => {
    await pushApp(server, 'busy', nodeApp('() => ({})'));
    const busy = '/v1/applications/busy';
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1)
      ids.push((await createRunAndWait(server, 'busy', { input: { id: count, PADDING } })).id);
    const body = { id: 'left', name: 'Any name', instance_id: 'latest' };
    const [response] = await Promise.all([
      server.request('POST', `${busy}/experiments/inputsets`, { body }),
      ...ids.slice(1).map((id) => server.request('DELETE', `${busy}/runs/${id}`)),
    ]);
    expectStatus(response, 201);
    const set = (await server.request('GET', `${busy}/experiments/inputsets/left`)).body as InputSet;
    expect(set.input_ids).toContain(ids[0]);
    expect(await contentsOf(set)).toEqual(set.input_ids.map((id) => ids.indexOf(id)));
  });

  test('as it is changed otherwise, it is as one of the two wanted it, with every content', async () => {
    const [one, two, three] = [await managed(), await managed(), await managed()];
    const set = await made({ inputs: named(one) });
    const before = await countRowsByTable(server);
    for (let round = 0; round < 6; round += 1) {
      const wishes = [[two, three], [three, one, two], [one]];
      await Promise.all(wishes.map((wish) => changed(set.id, { inputs: named(...wish) })));
      const after = await get(set.id);
      expect(wishes).toContainEqual(after.input_ids);
      expect(await contentsOf(after)).toEqual(after.input_ids);
    }
    await changed(set.id, { inputs: named(one) });
    const after = await countRowsByTable(server);
    expect([after.contents, after.input_set_inputs]).toEqual([before.contents, before.input_set_inputs]);
  });

  test('as it is deleted, a change is made or 404, and nothing is left', async () => {
    for (let round = 0; round < 6; round += 1) {
      const [one, two] = [await managed(), await managed()];
      const set = await made({ inputs: named(one) });
      const before = await countRowsByTable(server);
      const [change, gone] = await Promise.all([
        put(set.id, { inputs: named(one, two) }),
        server.request('DELETE', `${path}/${set.id}`),
      ]);
      expect([200, 404]).toContain(change.status);
      expectStatus(gone, 204);
      const after = await countRowsByTable(server);
      expect([after.input_sets, after.input_set_inputs, after.contents]).toEqual([
        (before.input_sets ?? 0) - 1,
        (before.input_set_inputs ?? 0) - 1,
        (before.contents ?? 0) - 1,
      ]);
    }
  });
});
