/** Concurrent followers of one log under load: each receives every line once and in order. */
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, nodeApp, packFiles, pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const FOLLOWERS = 8;
const LINES = 12_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '4' } });
  // Prints at full speed: lines of every length, some of them empty, some repeated.
  await pushApp(
    server,
    'fast',
    nodeApp(`async () => {
      const write = (text) => new Promise((resolve) => process.stderr.write(text, resolve));
      for (let n = 0; n < ${LINES}; n += 1)
        await write(n % 7 === 0 ? '\\n' : n % 5 === 0 ? 'again\\n' : 'line ' + n + ' ' + 'ä'.repeat(n % 300) + '\\n');
      return {};
    }`),
  );
  await pushApp(server, 'both', {
    'main.mjs': `
for (let n = 0; n < ${LINES / 4}; n += 1) {
  await new Promise((resolve) => process.stderr.write('log ' + n + '\\n', resolve));
  await new Promise((resolve) => process.stdout.write('out ' + n + '\\n', resolve));
}
`,
  });
});
afterAll(() => server.close());

const path = (application: string, run: string): string => `/v1/applications/${application}/runs/${run}`;

/** Polls without delay until the terminal status, and returns the lines. */
async function follow(application: string, run: string): Promise<LiveLog['items']> {
  const items: LiveLog['items'] = [];
  let since = '';
  for (;;) {
    const response = await server.request(
      'GET',
      `${path(application, run)}/logs/live${since && `?since=${since}`}`,
    );
    expectStatus(response, 200);
    const page = response.body as LiveLog;
    items.push(...page.items);
    since = page.next_page_token ?? since;
    if (isTerminal(page.status_v2)) return items;
  }
}

async function getWholeLog(application: string, run: string): Promise<string> {
  const response = await server.request('GET', `${path(application, run)}/logs`);
  expectStatus(response, 200);
  return (response.body as { log: string }).log;
}

const joinLines = (items: LiveLog['items']): string => items.map((item) => `${item.log}\n`).join('');

describe('followers of a fast-growing log', () => {
  test('each receive all of it until the terminal status', async () => {
    const runs = await Promise.all([0, 1].map(() => createRun(server, 'fast', { input: {} })));
    const followed = await Promise.all(
      runs.flatMap((run) => Array.from({ length: FOLLOWERS }, () => follow('fast', run))),
    );
    for (const [index, items] of followed.entries()) {
      const whole = await getWholeLog('fast', runs[Math.floor(index / FOLLOWERS)] ?? '');
      expect(whole.split('\n')).toHaveLength(LINES + 1);
      expect(items).toHaveLength(LINES);
      expect(joinLines(items) === whole).toBe(true);
      const stamps = items.map((item) => item.timestamp);
      expect(stamps.every((stamp, index) => index === 0 || stamp > (stamps[index - 1] ?? ''))).toBe(true);
    }
  });

  test('of both streams receive each stream in its order, and the same text as the whole log', async () => {
    const { body } = await server.client.call('createRunUpload', { params: { application_id: 'both' } });
    const input = new Uint8Array(await packFiles({ 'problem.txt': 'any' }));
    expect((await fetch(body.upload_url, { method: 'PUT', body: input })).status).toBe(200);
    const type = { type: 'multi-file' };
    const run = await createRun(server, 'both', {
      body: { upload_id: body.upload_id, configuration: { format: { input: type, output: type } } },
    });
    const followed = await Promise.all(Array.from({ length: FOLLOWERS }, () => follow('both', run)));
    const whole = await getWholeLog('both', run);
    for (const items of followed) {
      expect(joinLines(items) === whole).toBe(true);
      for (const stream of ['log', 'out']) {
        const lines = items.map((item) => item.log).filter((line) => line.startsWith(stream));
        expect(lines).toHaveLength(LINES / 4);
        expect(lines.every((line, index) => line === `${stream} ${index}`)).toBe(true);
      }
    }
  });
});

test('a run of another application, of another account or a missing one is a 404', async () => {
  const run = await createRun(server, 'fast', { input: {} });
  const getLiveLog = (application: string, id: string, token?: string) =>
    server.request('GET', `${path(application, id)}/logs/live`, token === undefined ? {} : { token });
  expectError(await getLiveLog('both', run), 404, `There is no run "${run}" of application "both".`);
  expectError(await getLiveLog('fast', 'run-missing'), 404, 'There is no run "run-missing"');
  expectError(await getLiveLog('missing', run), 404, 'There is no application "missing".');
  const other = await createOtherAccount(server);
  expectError(await getLiveLog('fast', run, other.token), 404, 'There is no application "fast".');
  await waitForRunEnd(server, 'fast', run);
  expectStatus(await server.request('DELETE', path('fast', run)), 204);
  expectError(await getLiveLog('fast', run), 404, `There is no run "${run}"`);
});
