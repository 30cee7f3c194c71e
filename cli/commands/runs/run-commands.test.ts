/** The commands around runs, against one server: create, follow, list, read, compare, replay, tag and delete. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import {
  createBatchExperiment,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandSettings, type Ended, runCommand } from '../../testing/run-command.ts';

/** Prints its input and the option `bonus`; the option `mode` lets it fail, wait, or differ at each start. */
const APP = `#!/bin/sh
bonus=1
while [ $# -gt 0 ]; do case $1 in -bonus) bonus=$2;; -mode) mode=$2;; esac; shift; done
input=$(cat)
printf '{"series":{"objective":100}}\\n\\033[31mstarted\\033[0m\\n{"series":{"objective":%s}}\\n' "$bonus" >&2
case $mode in
  fail) echo "ERROR: infeasible" >&2; exit 3;;
  wait) exec sleep 100;;
  previous) exec cat "$SWITCHYARD_PREVIOUS";;
  random) bonus=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ');;
esac
printf '{"solution":{"input":%s,"bonus":%s},"statistics":{"schema":"v1","result":{"value":%s}},' "$input" "$bonus" "$bonus"
printf '"assets":[{"name":"../map","content_type":"json","content":[%s]}]}' "$bonus"
`;
/** No JavaScript number has these digits. */
const INPUT = '{ "weight": 1.50, "big": 12345678901234567890 }';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-runs-'));
const path = (name: string): string => join(folder, name);
let server: TestServer;
beforeAll(async () => {
  // Runs of the largest class wait for ever.
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2,16c60gb12h=0' } });
  await pushApp(server, 'plan', { main: APP }, { executable_type: 'binary', entrypoint: 'main' });
  writeFileSync(path('input.json'), INPUT);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const cli = (args: readonly string[], settings: Partial<CommandSettings> = {}): Promise<Ended> =>
  runCommand(args, {
    cwd: folder,
    ...settings,
    env: {
      SWITCHYARD_URL: server.url,
      SWITCHYARD_TOKEN: server.token,
      SWITCHYARD_APP: 'plan',
      ...settings.env,
    },
  });

/** Creates a run with these arguments, waits for it, and returns its id. */
async function createRun(...args: string[]): Promise<string> {
  const { stdout, stderr } = await cli(['run', '--input', 'input.json', '--wait', '--quiet', ...args]);
  expect(stdout, stderr).toMatch(/^run-\S+\n$/);
  return stdout.trim();
}
const readJson = async (...args: string[]) => JSON.parse((await cli([...args, '--json'])).stdout);

describe('run', () => {
  test('--follow prints the log as it comes, without escape sequences, and then the result', async () => {
    const ended = await cli(['run', '--input', 'input.json', '--option', 'bonus=7', '--follow']);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('\nstarted\n') });
    expect(ended.stdout).toMatch(
      /^Run run-\S+ succeeded after [\d.]+\sm?s, having waited [\d.]+\sm?s\.\nresult\.value {2}7\n$/,
    );
  });

  test('--output - writes the output alone, and the input arrives byte for byte', async () => {
    const args = ['run', '--input', '-', '--output', '-', '--name', 'Monday', '--priority', '3'];
    const { code, stdout } = await cli(args, { input: INPUT });
    expect(code).toBe(0);
    expect(stdout).toContain(`"input":${INPUT},"bonus":1`);
    const [run] = (await readJson('runs', '--name', 'Monday')).runs;
    expect(run).toMatchObject({ status_v2: 'succeeded', queuing_priority: 3 });
    expect((await cli(['runs', 'input', run.id])).stdout).toBe(INPUT);
    expect((await cli(['runs', 'output', run.id])).stdout).toBe(stdout);
  });

  test('without waiting it returns the response of the API', async () => {
    const created = await readJson('run', '--input', 'input.json');
    expect(created).toEqual({ run_id: expect.stringMatching(/^run-/) });
    expect((await cli(['logs', created.run_id, '--follow'])).code).toBe(0);
  });

  test('the application is an argument too, and is part of the next command', async () => {
    const env = { SWITCHYARD_APP: 'another' };
    const { code, stdout } = await cli(['run', 'plan', '--input', 'input.json'], { env });
    expect(code).toBe(0);
    const [, id = ''] =
      /^Created run (\S+)\. Follow it with: switchyard logs \1 --follow --app plan\n$/.exec(stdout) ?? [];
    expect((await cli(['logs', id, '--follow'])).code).toBe(0);
  });

  test('--idempotency-key creates one run of the same input, and refuses the key for another one', async () => {
    const create = (file: string) => cli(['run', '--input', file, '--idempotency-key', 'plan-1', '--json']);
    writeFileSync(path('other.json'), '{"weight": 2}');
    const first = await create('input.json');
    expect(await create('input.json')).toEqual(first);
    expect(await create('other.json')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('which another request had'),
    });
    await cli(['logs', JSON.parse(first.stdout).run_id, '--follow']);
  });

  test('--no-queuing creates no run that would wait', async () => {
    const { runs } = await readJson('runs');
    const args = ['run', '--input', 'input.json', '--execution-class', '16c60gb12h', '--no-queuing'];
    expect((await cli(args)).code).toBe(5);
    expect((await readJson('runs')).runs).toEqual(runs);
    const free = ['run', '--input', 'input.json', '--no-queuing', '--priority', '2', '--wait', '--json'];
    expect(JSON.parse((await cli(free)).stdout)).toMatchObject({
      metadata: { queuing_disabled: true, queuing_priority: 2 },
    });
  });

  test('a failed run has the exit code 1, its error and the end of its log', async () => {
    const { code, stdout, stderr } = await cli([
      ...['run', '--input', 'input.json', '--option', 'mode=fail', '--wait', '--output', 'never.json'],
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/ failed after .*exit.* 3/);
    expect(stderr).toContain('The end of its log:\n');
    expect(stderr).toContain('ERROR: infeasible\n');
    expect(existsSync(path('never.json'))).toBe(false);
    const [, id = ''] = /(run-\S+) failed/.exec(stderr) ?? [];
    expect((await cli(['runs', 'get', id])).stdout).toMatch(
      /\nEnd of the log\n( {2}.*\n)* {2}ERROR: infeasible\n$/,
    );
  });

  test.each<[string, string[], number, string]>([
    ['no input', [], 2, '--input-id'],
    ['two inputs', ['--input', 'input.json', '--input-id', 'x'], 2, 'cannot be used with'],
    ['a missing file', ['--input', 'absent.json'], 2, 'does not exist'],
    ['broken JSON', ['--input', 'broken.json'], 2, 'is not valid JSON'],
    ['an empty standard input', ['--input', '-'], 2, 'is empty'],
    ['an option without a value', ['--input', 'input.json', '--option', 'bonus'], 2, 'NAME=VALUE'],
    ['a priority out of range', ['--input', 'input.json', '--priority', '10'], 2, 'from 1 to 9'],
    ['a key with a space', ['--input', 'input.json', '--idempotency-key', 'a b'], 2, 'no spaces'],
    ['an unknown instance', ['--input', 'input.json', '--instance', 'nothing'], 4, 'nothing'],
  ])('refuses %s', async (_title, args, code, words) => {
    writeFileSync(path('broken.json'), '{"a":');
    const ended = await cli(['run', ...args]);
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
  });

  test('Ctrl-C leaves the run alive and says how to follow it again', async () => {
    const abort = new AbortController();
    const waiting = cli(
      ['run', '--input', 'input.json', '--option', 'mode=wait', '--follow', '--app', 'plan'],
      {
        signal: abort.signal,
        onError: (text) => text.includes('started') && abort.abort(),
      },
    );
    const { code, stdout, stderr } = await waiting;
    const [, id = ''] =
      /Follow it again with: switchyard logs (run-\S+) --follow --app plan\n/.exec(stderr) ?? [];
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect((await readJson('runs', 'get', id)).status_v2).toBe('running');
    expect((await cli(['logs', id])).stdout).toContain('started\n');
    const followed = cli(['logs', id, '--follow']);
    expect(await cli(['cancel', id])).toMatchObject({ code: 0, stdout: `Canceled ${id}.\n` });
    expect(await followed).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('started\n'),
      stderr: `Run ${id} was canceled.\n`,
    });
  });
});

describe('the last line of a terminal', () => {
  /** Follows a run until standard error contains the text, and cancels it. */
  async function followUntil(text: RegExp, ...args: string[]): Promise<void> {
    const abort = new AbortController();
    let written = '';
    const { code, stderr } = await cli(['run', '--input', 'input.json', '--follow', ...args], {
      signal: abort.signal,
      isTerminal: true,
      onError: (chunk) => {
        written += chunk;
        if (text.test(written)) abort.abort();
      },
    });
    expect(code).toBe(130);
    await cli(['cancel', /Run (run-\S+) continues/.exec(stderr)?.[1] ?? '']);
  }

  test('has the status and the objective of a running run', () =>
    followUntil(/running [\d.]+\sm?s {2}objective 1 #_/, '--option', 'mode=wait'));

  test('has the reason of a queued run', () =>
    followUntil(/queued [\d.]+\sm?s {2}[A-Z].*class/, '--execution-class', '16c60gb12h'));

  test('has the age of a run that was created before the command', async () => {
    const { stdout } = await cli(['run', '--input', 'input.json', '--option', 'mode=wait', '--quiet']);
    const run_id = stdout.trim();
    const readAge = async (): Promise<number> =>
      JSON.parse((await cli(['runs', 'get', run_id, '--json'])).stdout).metadata.duration;
    await expect.poll(readAge).toBeGreaterThan(200);
    const abort = new AbortController();
    let written = '';
    await cli(['logs', run_id, '--follow'], {
      signal: abort.signal,
      isTerminal: true,
      onError: (chunk) => {
        written += chunk;
        if (/running [\d.]+\sm?s/.test(written)) abort.abort();
      },
    });
    const [, amount = '', unit = ''] = /running ([\d.]+)\s(m?s)/.exec(written) ?? [];
    expect(Number(amount) * (unit === 's' ? 1000 : 1)).toBeGreaterThan(200);
    await cli(['cancel', run_id]);
  });
});

describe('a run that waits', () => {
  test('has its reason, and can be moved in the queue and canceled', async () => {
    const { run_id } = await readJson('run', '--input', 'input.json', '--execution-class', '16c60gb12h');
    const { stdout } = await cli(['runs', 'get', run_id]);
    expect(stdout).toMatch(/^status {2,}queued$/m);
    expect(stdout).toMatch(/^waiting {2,}\S+/m);
    expect(await cli(['runs', 'update', run_id, '--priority', '1'])).toMatchObject({ code: 0 });
    expect((await readJson('runs', 'get', run_id)).queuing_priority).toBe(1);
    expect((await cli(['runs', '--status', 'queued', '--quiet'])).stdout).toBe(`${run_id}\n`);
    expect((await cli(['runs', 'output', run_id])).code).toBe(1);
    await cli(['cancel', run_id]);
    expect((await readJson('runs', 'get', run_id)).status_v2).toBe('canceled');
  });
});

describe('reading runs', () => {
  let low: string;
  let high: string;
  beforeAll(async () => {
    low = await createRun('--option', 'bonus=20', '--name', 'Low, first', '--description', 'depot north');
    high = await createRun('--option', 'bonus=30', '--name', 'High');
    await cli(['runs', 'tag', low, '--add', 'board, meeting', '--add', 'draft']);
  });

  test.each<[string[], () => string[]]>([
    [['--indicator', 'result.value=20..30', '--sort', 'indicator.result.value'], () => [low, high]],
    [
      ['--indicator', 'result.value=20..30', '--sort', '-indicator.result.value', '--limit', '1'],
      () => [high],
    ],
    [['--option', 'bonus=30', '--status', 'succeeded', 'failed'], () => [high]],
    [['--name', 'Low, first'], () => [low]],
    [['--text', 'nor'], () => [low]],
    [['--tag', 'board, meeting'], () => [low]],
    [['--created-before', '1h'], () => []],
    [['--created-after', '1h', '--name', 'High', '--type', 'standard', '--instance', 'latest'], () => [high]],
    [['--version', 'v9'], () => []],
  ])('runs %j', async (args, expected) => {
    expect(await cli(['runs', '--quiet', ...args])).toMatchObject({
      code: 0,
      stdout: expected()
        .map((id) => `${id}\n`)
        .join(''),
    });
  });

  test('a condition with a colon is read too, with a warning; a value may have one', async () => {
    const old = await cli(['runs', '--quiet', '--option', 'bonus:30']);
    expect(old).toEqual({
      ...{ code: 0, stdout: `${high}\n` },
      stderr: 'Warning: Write bonus=30 in place of bonus:30: the next release refuses it.\n',
    });
    const timed = await createRun('-o', 'start=08:00', '--name', 'At eight');
    expect(await cli(['runs', '--quiet', '--option', 'start=08:00'])).toMatchObject({ stdout: `${timed}\n` });
  });

  test('--all follows every page, and a limit ends with the token of the next one', async () => {
    const all = await readJson('runs', '--all');
    expect(all).not.toHaveProperty('next_page_token');
    expect(all.runs.length).toBeGreaterThan(3);
    const some = await readJson('runs', '--limit', '2');
    expect(some).toEqual({ runs: all.runs.slice(0, 2), next_page_token: expect.any(String) });
  });

  test('the table has the objective', async () => {
    const { stdout } = await cli(['runs', '--name', 'High']);
    expect(stdout.split('\n')[1]).toMatch(
      new RegExp(`^${RegExp.escape(high)}  High  succeeded +30  latest `),
    );
  });

  test('get prints options and indicators, and draws the objective', async () => {
    const { stdout } = await cli(['runs', 'get', low, '--chart']);
    expect(stdout).toMatch(/^description {2,}depot north$/m);
    expect(stdout).toMatch(/^Options\n {2}bonus {2}20$/m);
    expect(stdout).toMatch(/^Indicators\n {2}result\.value {2}20$/m);
    expect(stdout).toMatch(/^100 \| *\*/m);
    expect(stdout).toMatch(/^ 20 \|/m);
  });

  test('series lists the series, and draws one in Unicode where the locale has it', async () => {
    const { stdout } = await cli(['runs', 'series', low]);
    expect(stdout).toMatch(/^objective +log +2 +100 +20 +#_$/m);
    const drawn = await cli(['runs', 'series', low, '--name', 'objective'], { env: { LANG: 'C.UTF-8' } });
    expect(drawn.stdout).toMatch(/^100 ┤ *[\u2800-\u28ff]/m);
    expect(await cli(['runs', 'series', low, '--name', 'gap'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('objective'),
    });
  });

  test('output is written to a file that exists only when it is complete', async () => {
    expect(await cli(['runs', 'output', low, '--output', 'plan.json'])).toMatchObject({
      code: 0,
      stdout: '',
    });
    expect(JSON.parse(readFileSync(path('plan.json'), 'utf8')).solution.bonus).toBe(20);
    expect(existsSync(path('plan.json.part'))).toBe(false);
    const refused = await cli(['runs', 'output', low, '--output', 'absent/plan.json']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('absent does not exist') });
  });

  test('logs are printed whole, searched, and searched over all runs', async () => {
    const whole = await cli(['logs', low]);
    expect(whole.stdout).toBe('{"series":{"objective":100}}\nstarted\n{"series":{"objective":20}}\n');
    expect((await cli(['logs', low, '--search', 'STARTED'])).stdout).toBe('2  started\n');
    const failed = await createRun('--option', 'mode=fail');
    const { stdout } = await cli(['logs', 'search', 'infeasible', '--status', 'failed']);
    expect(stdout).toContain(`${failed}  failed\n4  ERROR: infeasible\n`);
    expect((await cli(['logs', 'search', '--level', 'error', '--name', 'High'])).stdout).toMatch(/^No log /);
    expect((await cli(['logs', 'search'])).code).toBe(2);
    expect((await cli(['logs', low, '--timestamps'])).stdout).toMatch(/^(\d{4}-\S+Z {2}.+\n){3}$/);
    expect((await readJson('logs', low, '--timestamps')).items).toMatchObject([
      { log: '{"series":{"objective":100}}', timestamp: expect.stringMatching(/^2.*Z$/) },
      { log: expect.stringContaining('started') },
      {},
    ]);
    expect((await cli(['logs', low, '--timestamps', '--level', 'error'])).code).toBe(2);
  });

  test('compare prints what differs, and the places at which two outputs differ', async () => {
    const { code, stdout } = await cli(['compare', low, high]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^bonus +20 +30$/m);
    expect(stdout).toMatch(/^result\.value +20 +30 \(\+10\)$/m);
    expect(stdout).toContain('  solution.bonus: 20 → 30\n');
    expect(stdout).not.toMatch(/^(runtime|status)/m);
    expect((await cli(['compare', low, high, '--all'])).stdout).toMatch(/^status +succeeded +succeeded$/m);
    const more = await Promise.all([createRun(), createRun('--name', 'Fourth')]);
    const four = (await cli(['compare', low, high, ...more])).stdout;
    expect(four).toContain(`4  ${more[1]} Fourth\n`);
    expect(four).toMatch(/^bonus +20 +30 +- +-$/m);
    expect(await cli(['compare', low, low])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2 to 10'),
    });
  });

  test('replay has the exit code 0 for the same output, and 1 for another one', async () => {
    const same = await cli(['replay', low]);
    expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^bytes_equal: /) });
    const random = await createRun('--option', 'mode=random');
    const other = await cli(['replay', random]);
    expect(other).toMatchObject({ code: 1, stdout: expect.stringMatching(/^different: /) });
    expect(other.stdout).toContain('/solution/bonus: ');
    expect((await cli(['runs', 'replays', low])).stdout).toMatch(/^run-\S+ +succeeded +bytes_equal +\S+@/m);
    expect((await readJson('runs', 'replays', random)).items).toMatchObject([
      { original_run_id: random, comparison: { verdict: 'different' } },
    ]);
    expect((await cli(['runs', 'replays', high])).stdout).toBe(`Run ${high} has no replays.\n`);
  });

  test('replay --repetitions creates several, compares each, and creates none with --plan', async () => {
    const original = await createRun();
    const plan = await cli(['replay', original, '--repetitions', '3', '--plan']);
    expect(plan.stdout).toMatch(/^3 runs: 3 of latest\.\nAbout .*\nNothing was created\.\n$/);
    expect((await readJson('runs', 'replays', original)).items).toEqual([]);
    const ended = await cli(['replay', original, '--repetitions', '3', 'plan']);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(bytes_equal: .*\n){3}$/) });
    const different = await createRun('--option', 'mode=random');
    const { code, stdout } = await cli(['replay', different, '--repetitions', '2', '--json']);
    expect([code, JSON.parse(stdout).length]).toEqual([1, 2]);
    expect(await cli(['replay', original, '--repetitions', '0'])).toMatchObject({ code: 2 });
  });

  test('a workflow has the steps that its app has sent', async () => {
    const steps = [
      { id: 'prepare', predecessors: [] },
      { id: 'solve', predecessors: ['prepare'], app_id: 'plan' },
    ];
    const nodes = [{ id: 'a', parent_id: 'prepare', predecessor_ids: [], status: 'succeeded', run_id: high }];
    const params = { application_id: 'plan', run_id: low };
    await server.client.call('updateRunFlow', { params, body: { pipeline_graph: { steps, nodes } } });
    const { stdout } = await cli(['runs', 'flow', low]);
    expect(stdout).toMatch(new RegExp(`^prepare +succeeded +${high}$`, 'm'));
    expect(stdout).toMatch(/^solve +plan +prepare$/m);
    expect((await cli(['runs', 'flow', high])).code).toBe(4);
  });

  test('tags are added and removed', async () => {
    expect((await cli(['runs', 'tag', low])).stdout).toBe('board, meeting\ndraft\n');
    expect((await cli(['runs', 'tag', low, '--remove', 'draft'])).stdout).toBe('board, meeting\n');
  });

  test('assets are listed, and downloaded into the folder whatever their names are', async () => {
    expect((await cli(['assets', low])).stdout).toMatch(/^asset-\S+ +\.\.\/map/m);
    expect(await cli(['assets', 'download', low, '--output', 'assets'])).toMatchObject({ code: 0 });
    expect(readFileSync(path('assets/map.json'), 'utf8')).toBe('[20]');
    expect((await cli(['assets', 'download', low, '../map'])).stdout).toBe('[20]');
    expect((await cli(['assets', 'download', low, 'absent'])).code).toBe(4);
  });

  test('deleted runs are gone', async () => {
    const id = await createRun();
    expect(await cli(['runs', 'delete', id, '--yes'])).toMatchObject({ code: 0, stdout: `Deleted ${id}.\n` });
    expect((await cli(['runs', 'get', id])).code).toBe(4);
  });
});

test('the app gets the output of an earlier run, on the server and on this machine', async () => {
  const first = await createRun('--option', 'bonus=7');
  const params = { application_id: 'plan' };
  for (const previous of [first, 'latest']) {
    const second = await createRun('--option', 'mode=previous', '--previous', previous);
    const { body } = await server.client.call('getRunMetadata', {
      params: { ...params, run_id: second as RunId },
    });
    expect(body.metadata.previous_run_id).toMatch(previous === first ? first : /^run-/);
    expect((await cli(['runs', 'output', second])).stdout).toContain('"bonus":7');
  }
  mkdirSync(path('local'), { recursive: true });
  writeFileSync(path('local/app.yaml'), 'type: binary\nruntime: native\nfiles: [main]\n');
  writeFileSync(path('local/main'), '#!/bin/sh\ncat "$SWITCHYARD_PREVIOUS"\n', { mode: 0o755 });
  writeFileSync(path('local/input.json'), '{}');
  const { stdout } = await cli(['dev', 'local', '--json', '--previous', first]);
  expect(JSON.parse(stdout)).toMatchObject({ status_v2: 'succeeded', output: { solution: { bonus: 7 } } });
  const missing = await cli(['run', '--input', 'input.json', '--previous', 'nothing']);
  expect(missing).toMatchObject({ code: 5, stderr: expect.stringContaining('no such run') });
});

test('--previous latest is a plan of the same instance: no run of an experiment, no child run, no replay', async () => {
  const params = { application_id: 'plan' };
  const find = async (...args: string[]): Promise<string | undefined> => {
    const run_id = (await createRun('--option', 'mode=previous', '--previous', 'latest', ...args)) as RunId;
    const { body } = await server.client.call('getRunMetadata', { params: { ...params, run_id } });
    await cli(['runs', 'delete', run_id, '--yes']);
    return body.metadata.previous_run_id;
  };
  await server.client.call('createVersion', { params, body: { id: 'plan-1', name: 'Plan 1' } });
  for (const id of ['rolling', 'other'])
    await server.client.call('createInstance', {
      params,
      body: { id, name: `Instance ${id}`, version_id: 'plan-1' },
    });
  const rolling = ['--instance', 'rolling'];
  const refused = await cli(['run', '--input', 'input.json', '--previous', 'latest', ...rolling]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('the instance rolling') });
  const old = await createRun('--option', 'bonus=1', ...rolling);
  const monday = await createRun('--option', 'bonus=7', ...rolling);
  await createRun('--option', 'bonus=8', '--instance', 'other');
  expect(await find(...rolling)).toBe(monday);
  await cli(['replay', old]);
  expect(await find(...rolling)).toBe(monday);
  await server.client.call('createInputSet', {
    params,
    body: { id: 'mondays', name: 'Mondays', run_ids: [monday as RunId] },
  });
  const batch = await createBatchExperiment(server, 'plan', {
    input_set_id: 'mondays',
    instance_ids: ['rolling'],
  });
  await waitForBatchEnd(server, 'plan', batch.id);
  expect(await find(...rolling)).toBe(monday);
  const body = {
    id: 'several',
    name: 'Several',
    run_groups: [{ id: 'only', instance_id: 'rolling', options: { bonus: '3' }, repetitions: 2 }],
    rules: [{ id: 'value', index: 0, statistics_path: 'result.value', objective: 'minimize' as const }],
  };
  await server.client.call('createEnsemble', { params, body });
  const best = await createRun('--ensemble-id', 'several');
  expect(await find(...rolling)).toBe(monday);
  expect(await find('--ensemble-id', 'several')).toBe(best);
});

test('--csv prints every run of the filter with its option and its indicator in columns', async () => {
  const run = await createRun('--option', 'bonus=17', '--name', 'a "name", quoted');
  const { stdout } = await cli(['runs', '--csv', '--option', 'bonus:17']);
  const [header = '', line = '', ...others] = stdout.split('\r\n');
  expect(header.split(',')).toEqual(
    expect.arrayContaining(['id', 'status_v2', 'option.bonus', 'indicator.result.value']),
  );
  expect(line).toMatch(new RegExp(`^${run},"a ""name"", quoted",,succeeded,.*,17,17$`));
  expect(others).toEqual(['']);
  const refused = await cli(['runs', '--csv', '--limit', '5']);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--limit') });
});

test('S10: numbers that a double does not hold keep their digits from the output to every response', async () => {
  const digits = '9007199254740993';
  const id = await createRun('--option', `bonus=${digits}`);
  const get = async (url: string): Promise<string> => {
    const response = await fetch(`${server.url}/v1/applications/plan/runs${url}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    return response.text();
  };
  const value = `"value":${digits}`;
  for (const url of [`/${id}`, `/${id}/metadata`]) {
    const text = await get(url);
    expect(text).toContain(`"result":{${value}}`);
    expect(text).toContain(`{"name":"result.value",${value}}`);
  }
  expect(await get('')).toContain(`{"name":"result.value",${value}}`);
  expect(await get('?limit=1')).toContain(`{"name":"result.value",${value}}`);
  expect(await get('?format=csv')).toContain(`,${digits}`);
  expect((await cli(['assets', 'download', id, '../map'])).stdout).toBe(`[${digits}]`);
  for (const args of [['runs', 'get', id], ['runs'], ['api', 'GET', `/v1/applications/plan/runs/${id}`]])
    expect((await cli([...args, '--json'])).stdout).toContain(`"value": ${digits}`);
});
