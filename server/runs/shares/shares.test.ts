/** Share links: they show the chosen parts of one run, and nothing else, until they expire or are revoked. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { countRowsByTable } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const HOUR_MS = 60 * 60 * 1000;
const clock = createManualClock(Date.parse('2026-11-20T08:00:00Z'));
const APP = nodeApp(`(input, options) => {
  console.error('log of ' + input.name);
  return { solution: input.name, statistics: { schema: 'v1', result: { value: 7 } },
    assets: [{ name: 'Routes', content: { secret: 'asset of ' + input.name } }] };
}`);
const HIDDEN: Partial<Requirements> = {
  options: {
    strict: false,
    items: [
      { name: 'open', option_type: 'string', default: 'visible-value' },
      { name: 'margin', option_type: 'string', default: 'hidden-value', ui: { hidden_from: ['viewer'] } },
    ],
  },
};
const PARTS = ['summary', 'indicators', 'options', 'log', 'input', 'output', 'assets'] as const;
type Part = (typeof PARTS)[number];
const path = '/v1/applications/routing/runs';

let server: TestServer;
let run: string;
let other: string;
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(server, 'routing', APP, HIDDEN);
  run = (await createRunAndWait(server, 'routing', { input: { name: 'first' } })).id;
  other = (await createRunAndWait(server, 'routing', { input: { name: 'second' } })).id;
});
afterAll(() => server.close());

interface ShareBody {
  id: string;
  url: string;
  expires_at: string;
}
const createShare = async (parts: readonly string[], of = run, body: object = {}): Promise<ShareBody> => {
  const response = await server.request('POST', `${path}/${of}/shares`, { body: { parts, ...body } });
  expectStatus(response, 201);
  return response.body as ShareBody;
};
const readToken = ({ url }: ShareBody): string => new URL(url).pathname.split('/').at(-1) ?? '';
const read = (token: string, rest = '') =>
  server.request('GET', `/v1/shared/${token}${rest}`, { token: null });
const readAssetId = async () => {
  const { body } = await server.request('GET', `${path}/${run}/assets`);
  return (body as { items: { id: string }[] }).items[0]?.id ?? '';
};

/** Checks that nothing can be read with the token, and that the refusal does not say why. */
async function expectNothing(token: string): Promise<void> {
  for (const rest of ['', '/content/output', '/content/log', `/content/${await readAssetId()}`])
    expectError(await read(token, rest), 404, 'unknown, expired or revoked');
}

describe('a share link', () => {
  test('shows all parts when all were chosen', async () => {
    const share = await createShare(PARTS);
    expect(share.expires_at).toBe(new Date(clock.now() + 7 * 24 * HOUR_MS).toISOString());
    expect(share.url.startsWith(`${server.url}/console/shared/`)).toBe(true);
    const token = readToken(share);
    const { body } = await read(token);
    expect(body).toMatchObject({
      summary: { id: run, status_v2: 'succeeded', application_id: 'routing' },
      indicators: [{ name: 'result.value', value: 7 }],
      options: [{ name: 'open', value: 'visible-value' }],
      input: { format: 'json' },
      output: { format: 'json' },
      assets: [{ id: await readAssetId(), name: 'Routes' }],
    });
    expect((await read(token, '/content/input')).body).toEqual({ name: 'first' });
    expect((await read(token, '/content/output')).body).toMatchObject({ solution: 'first' });
    expect((await read(token, '/content/log')).text).toContain('log of first');
    expect((await read(token, `/content/${await readAssetId()}`)).body).toEqual({ secret: 'asset of first' });
  });

  test.each(PARTS)('for %s shows nothing else', async (part: Part) => {
    const token = readToken(await createShare([part]));
    const { body } = await read(token);
    const fields = Object.keys(body as object).filter((name) => !['parts', 'expires_at'].includes(name));
    expect(fields).toEqual([part]);
    const contents = { input: 'input', output: 'output', log: 'log', assets: await readAssetId() };
    for (const [name, id] of Object.entries(contents))
      expect((await read(token, `/content/${id}`)).status, name).toBe(name === part ? 200 : 404);
  });

  test('never shows hidden options, people or other runs', async () => {
    const token = readToken(await createShare(PARTS));
    const { text } = await read(token);
    for (const hidden of ['hidden-value', 'root@localhost', other]) expect(text).not.toContain(hidden);
    const { body } = await server.request('GET', `${path}/${other}/assets`);
    const { id } = (body as { items: { id: string }[] }).items[0] ?? { id: '' };
    for (const rest of [`/content/${id}`, `/content/${other}`, '/content/summary', '/content/..%2Foutput'])
      expect((await read(token, rest)).status).toBe(404);
  });

  test('ends when it is revoked', async () => {
    const share = await createShare(PARTS);
    expectStatus(await server.request('DELETE', `${path}/${run}/shares/${share.id}`), 204);
    await expectNothing(readToken(share));
    expectError(await server.request('DELETE', `${path}/${run}/shares/${share.id}`), 404, 'share link');
  });

  test('ends when it expires, and its row is deleted', async () => {
    const share = await createShare(PARTS, run, { expires_in_hours: 1 });
    clock.advance(HOUR_MS - 1);
    expectStatus(await read(readToken(share)), 200);
    clock.advance(1);
    await expectNothing(readToken(share));
    const { body } = await server.request('GET', `${path}/${run}/shares`);
    expect(JSON.stringify(body)).not.toContain(share.id);
  });

  test('ends when its run is deleted', async () => {
    const { id } = await createRunAndWait(server, 'routing', { input: { name: 'third' } });
    const token = readToken(await createShare(PARTS, id));
    const { run_shares } = await countRowsByTable(server);
    expectStatus(await server.request('DELETE', `${path}/${id}`), 204);
    await expectNothing(token);
    expect((await countRowsByTable(server)).run_shares).toBe((run_shares ?? 0) - 1);
  });

  test('cannot be guessed, altered or moved to another link', async () => {
    const [one, two] = [await createShare(['output']), await createShare(['summary'], other)];
    const signature = readToken(one).split('.')[1] ?? '';
    const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const token of [
      one.id,
      `${one.id}.`,
      `${one.id}.${flipped}`,
      `${one.id}.${signature}=`,
      `${two.id}.${signature}`,
      `${one.id}.${signature}.${signature}`,
      `share-unknown.${signature}`,
      signature,
      '%2e',
      'x'.repeat(5000),
    ])
      expect((await read(token)).status, token.slice(0, 80)).toBe(404);
    expectStatus(await read(readToken(one)), 200);
  });

  test('leaves audit entries without its token when it is created and revoked', async () => {
    const share = await createShare(['log']);
    await server.request('DELETE', `${path}/${run}/shares/${share.id}`);
    const { body, text } = await server.request('GET', '/v1/account/audit?limit=2');
    expect(body).toMatchObject({
      items: [
        { operation: 'revokeShare', resource: { share_id: share.id, run_id: run } },
        { operation: 'createShare', resource: { run_id: run } },
      ],
    });
    expect(text).not.toContain(readToken(share));
  });
});

describe('views of a share link', () => {
  const listShares = async (query = '', options = {}) =>
    (await server.request('GET', `/v1/account/shares${query}`, options)) as {
      status: number;
      text: string;
      body: { items: { id: string; views: number; last_viewed_at: string }[]; next_page_token?: string };
    };
  const listEntries = async (share: ShareBody) => {
    const { body } = await server.request('GET', '/v1/account/audit?operation=getSharedRun');
    const { items } = body as { items: { resource: { share_id: string } }[] };
    return items.filter(({ resource }) => resource.share_id === share.id);
  };

  test('are counted, and leave one audit entry in an hour', async () => {
    const share = await createShare(['output']);
    const token = readToken(share);
    await Promise.all(Array.from({ length: 20 }, () => read(token)));
    for (let reads = 0; reads < 3; reads += 1) expectStatus(await read(token, '/content/output'), 200);
    const [listed] = (await listShares('?limit=1')).body.items;
    const last_viewed_at = new Date(clock.now()).toISOString();
    expect(listed).toMatchObject({ id: share.id, views: 20, last_viewed_at, run_id: run });
    expect(listed).toMatchObject({ application_id: 'routing', application_name: expect.any(String) });
    expect(await listEntries(share)).toMatchObject([
      { user_email: null, address: expect.any(String), resource: { run_id: run } },
    ]);
    clock.advance(HOUR_MS);
    expectStatus(await read(token, '/content/output'), 200);
    expect(await listEntries(share)).toHaveLength(2);
    await read(token);
    expect(await listEntries(share)).toHaveLength(2);
    expect((await listShares('?limit=1')).body.items[0]?.views).toBe(21);
  });

  test('are not counted when the link does not work', async () => {
    const share = await createShare(['output']);
    await read(`${readToken(share)}x`);
    await read(readToken(share), '/content/log');
    expect((await listShares('?limit=1')).body.items[0]).toMatchObject({ views: 0, last_viewed_at: null });
    expect(await listEntries(share)).toEqual([]);
  });

  test('are listed by page to administrators of the account alone, without the address of the link', async () => {
    const shares = [await createShare(['log']), await createShare(['input'], other)];
    const first = await listShares('?limit=1');
    const rest = await listShares(`?pagetoken=${first.body.next_page_token}`);
    const ids = [first, rest].flatMap(({ body }) => body.items.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(shares.map(({ id }) => id)));
    for (const share of shares) expect(first.text + rest.text).not.toContain(readToken(share));
    const operator = await server.createKey('operator');
    expect((await listShares('', { token: operator.token })).status).toBe(403);
    const foreign = await createOtherAccount(server, 'root');
    expect((await listShares('', { token: foreign.token })).body.items).toEqual([]);
  });
});

describe('managing share links', () => {
  test('needs a run of the own account', async () => {
    const share = await createShare(['summary']);
    const { token } = await createOtherAccount(server, 'root');
    const shares = `${path}/${run}/shares`;
    expectError(await server.request('GET', shares, { token }), 404);
    expectError(await server.request('POST', shares, { token, body: { parts: ['log'] } }), 404);
    expectError(await server.request('DELETE', `${shares}/${share.id}`, { token }), 404);
    expectError(await server.request('DELETE', `${path}/${other}/shares/${share.id}`), 404);
    expectStatus(await read(readToken(share)), 200);
  });

  test('needs the right to run', async () => {
    const { token } = await server.createKey('viewer');
    const response = await server.request('POST', `${path}/${run}/shares`, {
      token,
      body: { parts: ['log'] },
    });
    expectStatus(response, 403);
    expectStatus(await server.request('GET', `${path}/${run}/shares`, { token }), 403);
  });

  test('is limited to 50 links of a run', async () => {
    const { id } = await createRunAndWait(server, 'routing', { input: { name: 'many' } });
    for (let count = 0; count < 50; count += 1) await createShare(['summary'], id);
    const response = await server.request('POST', `${path}/${id}/shares`, { body: { parts: ['summary'] } });
    expectError(response, 400, '50 share links');
  });

  test.each([
    [{ parts: [] }],
    [{ parts: ['everything'] }],
    [{ parts: 'log' }],
    [{}],
    [{ parts: ['log'], expires_in_hours: 0 }],
    [{ parts: ['log'], expires_in_hours: 1e6 }],
    [{ parts: ['log'], run_id: 'x' }],
  ])('refuses %j', async (body) => {
    expectError(await server.request('POST', `${path}/${run}/shares`, { body }), 400);
  });
});
