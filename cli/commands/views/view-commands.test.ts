/** Saved views of runs: which one a name means, and their commands. */
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { createInstance } from '@switchyard/server/testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../testing/run-command.ts';
import { chooseView } from './find-view.ts';

describe('a name', () => {
  const views = [
    { id: 'view-1', name: 'Late', is_own: false },
    { id: 'view-2', name: 'Late', is_own: true },
    { id: 'view-3', name: 'Early', is_own: false },
    { id: 'view-4', name: 'Noon', is_own: false },
    { id: 'view-5', name: 'Noon', is_own: false },
    { id: 'view-6', name: 'view-1', is_own: true },
  ];

  test.each<[string, string | undefined, string]>([
    ['Late', 'view-2', 'your own view'],
    ['Early', 'view-3', 'the only shared view'],
    ['view-5', 'view-5', 'the view with this id'],
    ['view-1', 'view-1', 'the view with this id, not the one with this name'],
    ['late', undefined, 'no view'],
  ])('%s is %s: %s', (text, id) => {
    expect(chooseView(views, text)?.id).toBe(id);
  });

  test('that two people share needs an id', () => {
    expect(() => chooseView(views, 'Noon')).toThrow('Give the id of one: view-4, view-5.');
  });
});

describe('views', () => {
  let server: TestServer;
  let app: string;
  let runs: string[];
  beforeAll(async () => {
    server = await startTestServer();
    app = await createInstance(server);
    runs = [];
    for (const name of ['Low', 'High'])
      runs.push((await createRunAndWait(server, app, { input: {}, body: { name } })).id);
  });
  afterAll(() => server.close());

  const cli = (...args: string[]) =>
    runCommand(args, {
      cwd: '/',
      env: { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token, SWITCHYARD_APP: app },
    });

  test('are saved, used with other filters, changed and deleted', async () => {
    const [low, high] = runs;
    const listRuns = async (...args: string[]) => (await cli('runs', '--quiet', ...args)).stdout;
    const filters = ['--status', 'succeeded', '--sort', 'created_at', '--created-within', '24h'];
    const id = (await cli('views', 'create', 'Good', ...filters, '--quiet')).stdout.trim();
    expect(await listRuns('--view', 'Good')).toBe(`${low}\n${high}\n`);
    expect(await listRuns('--view', id, '--name', 'High')).toBe(`${high}\n`);
    expect(await listRuns('--view', id, '--sort', '-created_at')).toBe(`${high}\n${low}\n`);
    expect(await listRuns('--view', id, '--status', 'failed')).toBe('');

    const renamed = await cli(
      ...['views', 'update', 'Good', '--rename', 'Best', '--shared', '--columns', 'instance'],
    );
    expect(renamed.stdout).toBe(`Changed view Best. List its runs with: switchyard runs --view ${id}\n`);
    expect(JSON.parse((await cli('views', '--json')).stdout).items).toMatchObject([
      { id, name: 'Best', is_shared: true, table: { columns: ['instance'] } },
    ]);
    expect((await cli('views')).stdout).toMatch(/^view-\S+ +Best +you +yes$/m);
    expect((await cli('views', 'update', id, '--no-shared', '--status', 'failed')).code).toBe(0);
    expect((await cli('views')).stdout).toMatch(/^view-\S+ +Best +you +status=failed$/m);
    expect((await cli('views', 'delete', 'Best', '--yes')).code).toBe(0);
    expect((await cli('views')).stdout).toBe(`Application ${app} has no views.\n`);
  });

  test.each([
    { args: ['views', 'update', 'x'], code: 2, words: '--rename' },
    { args: ['runs', '--view', 'x'], code: 4, words: 'switchyard views list' },
    { args: ['views', 'create', 'x', '--created-within', '2h'], code: 2, words: '24h' },
  ])('$args is refused', async ({ args, code, words }) => {
    expect(await cli(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
  });
});
