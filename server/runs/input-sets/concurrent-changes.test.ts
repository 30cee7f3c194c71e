/** Changes and deletions of input sets and their sources by concurrent requests. */
import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, createRunAndWait, nodeApp, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uniqueId, uploadContent } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { countRowsByTable } from '../../testing/servers/orphan-rows.ts';
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

describe('concurrent requests:', () => {
  test('a set is complete or refused while a run or managed input is deleted', async () => {
    for (let round = 0; round < 6; round += 1) {
      const run = await createRun(server, 'app', { input: { id: 'run', PADDING } });
      await waitForRunEnd(server, 'app', run);
      const input = await createManagedInput();
      const id = uniqueId('set');
      const body = { name: 'Any name' };
      const [ofRun, ofInput] = await Promise.all([
        server.request('POST', path, { body: { ...body, id, run_ids: [run] } }),
        server.request('POST', path, { body: { ...body, id: `${id}-in`, inputs: referTo(input) } }),
        remove(`runs/${run}`),
        remove(`inputs/${input}`),
      ]);
      for (const [response, one, whose, field] of [
        [ofRun, id, 'run', `run_ids.0 is "${run}"`],
        [ofInput, `${id}-in`, input, `inputs.0.id is "${input}"`],
      ] as const) {
        if (response.status === 201) expect(await readContents(await get(one))).toEqual([whose]);
        else {
          expectError(response, 400, field);
          expectError(await server.request('GET', `${path}/${one}`), 404);
        }
      }
    }
  });

  test('a set of an instance has the remaining runs while runs are deleted', async () => {
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
    expect(await readContents(set)).toEqual(set.input_ids.map((id) => ids.indexOf(id)));
  });

  test('one of two updates wins, with every content', async () => {
    const [one, two, three] = [
      await createManagedInput(),
      await createManagedInput(),
      await createManagedInput(),
    ];
    const set = await createSet({ inputs: referTo(one) });
    const before = await countRowsByTable(server);
    for (let round = 0; round < 6; round += 1) {
      const requests = [[two, three], [three, one, two], [one]];
      await Promise.all(requests.map((request) => updateSet(set.id, { inputs: referTo(...request) })));
      const after = await get(set.id);
      expect(requests).toContainEqual(after.input_ids);
      expect(await readContents(after)).toEqual(after.input_ids);
    }
    await updateSet(set.id, { inputs: referTo(one) });
    const after = await countRowsByTable(server);
    expect([after.contents, after.input_set_inputs]).toEqual([before.contents, before.input_set_inputs]);
  });

  test('an update succeeds or returns 404 while the set is deleted, and no content remains', async () => {
    for (let round = 0; round < 6; round += 1) {
      const [one, two] = [await createManagedInput(), await createManagedInput()];
      const set = await createSet({ inputs: referTo(one) });
      const before = await countRowsByTable(server);
      const [change, gone] = await Promise.all([
        put(set.id, { inputs: referTo(one, two) }),
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
