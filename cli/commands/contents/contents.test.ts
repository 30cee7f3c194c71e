/** Commands for the contents of callers: managed inputs, input sets, external runs, share links, and retention. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { createInstance } from '@switchyard/server/testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, runCommand } from '../../testing/run-command.ts';

/** No JavaScript number has these digits. */
const INPUT = '{ "weight": 1.50, "big": 12345678901234567890 }';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-contents-'));
const path = (name: string): string => join(folder, name);
let server: TestServer;
let app: string;
beforeAll(async () => {
  server = await startTestServer();
  app = await createInstance(server);
  writeFileSync(path('input.json'), INPUT);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const cli = (args: readonly string[]): Promise<Ended> =>
  runCommand(args, {
    cwd: folder,
    env: { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token, SWITCHYARD_APP: app },
  });
const readJson = async (...args: string[]) => JSON.parse((await cli([...args, '--json'])).stdout);

/** Returns standard output of a command that has to succeed. */
async function print(line: string): Promise<string> {
  const { code, stdout, stderr } = await cli(line.split(' '));
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('inputs and sets', () => {
  test('an input from a file is run, downloaded byte for byte, and deleted', async () => {
    const created = await cli(['inputs', 'create', 'monday', '--file', 'input.json', '--name', 'Monday']);
    expect(created).toMatchObject({ code: 0, stdout: 'Created managed input monday.\n' });
    expect((await cli(['inputs', 'download', 'monday'])).stdout).toBe(INPUT);
    expect((await cli(['inputs', 'get', 'monday'])).stdout).toMatch(/^format {2,}json$/m);
    const { stdout } = await cli(['run', '--input-id', 'monday', '--instance', 'latest', '--wait', '--json']);
    expect(JSON.parse(stdout).metadata.tracking.input_id).toBe('monday');
    const run = JSON.parse(stdout).id;
    expect((await cli(['inputs', 'create', 'again', '--run-id', run, '--quiet'])).stdout).toBe('again\n');
    expect((await cli(['inputs', '--quiet'])).stdout).toBe('again\nmonday\n');
    const set = await cli(['sets', 'create', 'peaks', '--input-id', 'again', 'monday']);
    expect(set).toMatchObject({ code: 0, stdout: 'Created input set peaks with 2 inputs.\n' });
    expect((await cli(['inputs', 'update', 'monday', '--name', 'Monday, early'])).code).toBe(0);
    expect(await readJson('inputs', 'get', 'monday')).toMatchObject({ name: 'Monday, early' });
    expect((await cli(['inputs', 'delete', 'again', 'monday', '--yes'])).code).toBe(0);
    expect((await cli(['sets', 'get', 'peaks'])).stdout).toMatch(/^monday +Monday +json$/m);
    expect((await cli(['sets', '--quiet'])).stdout).toBe('peaks\n');
    expect(
      (await cli(['sets', 'create', 'recent', '--instance', 'latest', '--maximum-runs', '1'])).code,
    ).toBe(0);
    writeFileSync(path('tuesday.json'), '{}');
    const fromFiles = await cli(['sets', 'create', 'files', '--file', 'input.json', 'tuesday.json']);
    expect(fromFiles.stdout).toBe('Created input set files with 2 inputs.\n');
    expect((await cli(['sets', 'get', 'files'])).stdout).toMatch(/^input-\S+ +tuesday +json$/m);
    // The set has its own copy of an input that was deleted.
    const updated = await readJson(
      ...['sets', 'update', 'peaks', '--name', 'Peak days', '--remove-input', 'again'],
      ...['--file', 'tuesday.json'],
    );
    expect(updated).toMatchObject({
      name: 'Peak days',
      input_ids: ['monday', expect.stringMatching(/^input-/)],
    });
    const unknown = await cli(['sets', 'update', 'peaks', '--remove-input', 'again']);
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('switchyard sets get peaks') });
    expect((await cli(['sets', 'delete', 'peaks', 'recent', 'files', '--yes'])).code).toBe(0);
    expect((await cli(['sets'])).stdout).toBe(`Application ${app} has no input sets.\n`);
  });

  test('W6: a folder becomes an archive with its hidden files', async () => {
    mkdirSync(path('data/days/.git'), { recursive: true });
    writeFileSync(path('data/days/monday.csv'), 'a,b\n');
    writeFileSync(path('data/.weights'), 'c,d\n');
    const { stderr } = await cli(['inputs', 'create', 'archive', '--file', 'data']);
    expect(stderr).toContain('left out: days/.git (a folder of a tool)');
    expect((await readJson('inputs', 'get', 'archive')).format.input.type).toBe('multi-file');
    await cli(['inputs', 'download', 'archive', '--output', 'archive.tar.gz']);
    const tar = gunzipSync(readFileSync(path('archive.tar.gz'))).toString();
    expect(tar).toContain('days/monday.csv\0');
    expect(tar).toContain('a,b\n');
    expect(tar).toContain('.weights\0');
  });

  test.each<[string[], string]>([
    [['inputs', 'create', 'x'], '--file'],
    [['sets', 'create', 'x'], '--input-id'],
    [['inputs', 'update', 'x'], '--description'],
    [['sets', 'update', 'x'], '--remove-input'],
  ])('%j names the missing option', async (args, words) => {
    expect(await cli(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});

describe('runs that were executed elsewhere', () => {
  const track = (...args: string[]) => readJson('runs', 'track', '--input', 'input.json', ...args);
  const readRun = (id: string) => readJson('runs', 'get', id);

  test('have the output, log and statistics of their files', async () => {
    const output = '{"solution":{"cost":12345678901234567890},"statistics":{"result":{"value":1}}}';
    writeFileSync(path('output.json'), output);
    writeFileSync(path('solver.log'), 'optimal\n');
    writeFileSync(path('statistics.json'), '{"statistics":{"schema":"v1","result":{"value":31}}}');
    const { run_id } = await track(
      ...['--output', 'output.json', '--log', 'solver.log', '--statistics', 'statistics.json'],
      ...[
        '--execution-duration',
        '400',
        '--name',
        'Week 47',
        '--option',
        'gap=1',
        '--idempotency-key',
        'w47',
      ],
    );
    expect(await readRun(run_id)).toMatchObject({
      ...{ status_v2: 'succeeded', name: 'Week 47', execution_duration: 400 },
      run_type: { type: 'external' },
      metadata: { statistics: { result: { value: 31 } }, options: { request_options: { gap: '1' } } },
    });
    expect((await cli(['runs', 'output', run_id])).stdout).toBe(output);
    expect((await cli(['runs', 'input', run_id])).stdout).toBe(INPUT);
    expect((await cli(['logs', run_id])).stdout).toBe('optimal\n');
  });

  test('have the format of a folder, and the chosen one of a text', async () => {
    mkdirSync(path('plans'), { recursive: true });
    writeFileSync(path('plans/monday.csv'), 'a,b\n');
    writeFileSync(path('plan.txt'), 'north first');
    const archive = await track('--output', 'plans');
    expect((await readRun(archive.run_id)).metadata.format.output.type).toBe('multi-file');
    const text = await track('--output', 'plan.txt', '--output-format', 'text');
    expect((await cli(['runs', 'output', text.run_id])).stdout).toBe('north first');
  });

  test('get their result later, once', async () => {
    const { run_id } = await track();
    expect((await readRun(run_id)).status_v2).toBe('none');
    expect(await cli(['runs', 'set-result', run_id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--status succeeded'),
    });
    const failed = ['runs', 'set-result', run_id, '--error-message', 'no licence'];
    expect(await cli(failed)).toMatchObject({ code: 0, stdout: `Run ${run_id} is failed.\n` });
    expect((await readRun(run_id)).error).toBe('no licence');
    expect((await cli(failed)).code).toBe(5);
  });
});

describe('retention', () => {
  test('is previewed and changed one field at a time', async () => {
    await createRunAndWait(server, app, { input: {} });
    expect(await print('retention')).toMatch(/^runs stay +for ever$/m);
    expect(await print('retention preview --keep-days 1 --no-keep-experiment-runs')).toMatch(
      /^runs to delete +0 \(/m,
    );
    await print('retention set --keep-days 90');
    await print('retention set --no-keep-experiment-runs');
    expect(await readJson('retention', 'get')).toMatchObject({ keep_days: 90, keep_experiment_runs: false });
    expect(await print('retention set --keep-days none')).toMatch(/^runs of experiments stay +until/m);
    expect((await cli(['retention', 'set'])).code).toBe(2);
    expect((await cli(['retention', 'set', '--keep-days', '0'])).stderr).toContain('or "none"');
  });
});

describe('share links', () => {
  test('are created, listed with and without their run, and revoked', async () => {
    const { id } = await createRunAndWait(server, app, { input: {} });
    const link = (await print(`shares create ${id} --parts summary output --expires-in-hours 24`)).trim();
    const readShared = () => server.request('GET', `/v1/shared/${link.split('/').at(-1)}`, { token: '' });
    expect((await readShared()).body).toMatchObject({ parts: ['summary', 'output'], summary: { id } });
    const [share] = (await readJson('shares', 'list', id)).items;
    expect(share).toMatchObject({ url: link, views: 1 });
    expect(await print(`shares list ${id}`)).toMatch(
      new RegExp(`^${share.id}  ${RegExp.escape(link)}$`, 'm'),
    );
    expect(await print('shares --quiet')).toBe(`${share.id}\n`);
    expect(await print('shares')).toMatch(/^share-.*\s1\sd +summary/m);
    expect(await print('shares')).not.toContain(link);
    await print(`shares revoke ${id} ${share.id}`);
    expect((await readShared()).status).toBe(404);
    expect(await print(`shares list ${id}`)).toBe(`Run ${id} has no share links.\n`);
  });
});
