/** Experiments at the command line, on a server that executes no run: each test chooses the outcomes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAcceptanceApp, createInputSet } from '@switchyard/server/testing/fixtures/acceptance-tests.ts';
import { createRun } from '@switchyard/server/testing/fixtures/apps.ts';
import {
  type ChosenRun,
  endRuns,
  WITHOUT_EXECUTION,
} from '@switchyard/server/testing/fixtures/chosen-outcomes.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../testing/run-command.ts';

const INPUTS = 12;
const folder = mkdtempSync(join(tmpdir(), 'switchyard-cli-'));
let server: TestServer;
let application: string;
let inputSet: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  const inputs = Array.from({ length: INPUTS }, (_, size) => ({ control: size }));
  inputSet = await createInputSet(server, application, inputs);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, {
    cwd: folder,
    env: { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token, SWITCHYARD_APP: application, ...env },
  });

/** The candidate costs this share of the control, with a spread by input; null: as much as the control. */
function chooseCosts(share: number | null) {
  const places = new Map<string, number>();
  return ({ input_id, instance_id }: ChosenRun) => {
    const place = places.get(input_id) ?? places.size;
    places.set(input_id, place);
    const cost = 1000 + 10 * place;
    const value = instance_id === 'candidate' && share !== null ? cost * (share + place / 1000) : cost;
    return { indicators: { 'result.value': value } };
  };
}

/** Runs a command that waits for an experiment, and ends its runs meanwhile. */
async function runToEnd(args: string[], id: string, share: number | null) {
  const command = run(args);
  await expect
    .poll(async () => {
      const path = `/v1/applications/${application}/experiments/batch/${id}/metadata`;
      return (await server.request('GET', path)).status;
    })
    .toBe(200);
  await endRuns(server, id, chooseCosts(share));
  return command;
}

const batchArgs = (id: string, ...args: string[]) => [
  ...['experiments', 'create', 'batch', '--id', id, '--input-set-id', inputSet],
  ...['--instance-ids', 'control,candidate', '--objectives', 'result.value=minimize', ...args],
];
const acceptanceArgs = (id: string, ...args: string[]) => [
  ...['experiments', 'create', 'acceptance', '--id', id, '--input-set-id', inputSet],
  ...['--control', 'control', '--candidate', 'candidate', '--metrics', 'result.value mean le 1%', ...args],
];

describe('a batch experiment', () => {
  test('is planned without being created, then created, watched and read', async () => {
    const planned = await run(batchArgs('faster', '--plan'));
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toContain('24 runs: 12 of control, 12 of candidate.');
    expect(planned.stdout).toContain('no run of control, candidate has succeeded yet');
    expect((await run(['experiments', 'list'])).stdout).toContain('no such experiments');

    const ended = await runToEnd(batchArgs('faster', '--watch'), 'faster', 0.9);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^Release: candidate is better than control in result.value: -\d/);
    expect(await run(['experiments', 'watch', 'faster', '--decide', '--quiet'])).toMatchObject({
      code: 0,
      stdout: 'yes\n',
    });
    expect(ended.stderr).toContain('24 of 24 runs');
    expect(ended.stderr).toContain(`/console/apps/${application}/experiments/batch/faster`);

    const again = await run(batchArgs('faster-still', '--plan'));
    expect(again.stdout).toMatch(/Smallest detectable difference: [\d.]+\s% of result.value/);
  });

  test('T6: says why the newest experiment shows no spread to plan from', async () => {
    expect((await runToEnd(batchArgs('tied', '--watch'), 'tied', null)).code).toBe(0);
    const { code, stdout } = await run(batchArgs('after-a-tie', '--plan'));
    expect(code).toBe(0);
    expect(stdout).toContain('The smallest detectable difference is unknown: experiment_id is "tied"');
    expect(stdout).toContain('None of 12 inputs differs.');
    const refused = await run(['experiments', 'plan', '--experiment-id', 'tied', '--difference', '1%']);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('None of 12 inputs differs.') });
    expect((await run(['experiments', 'delete', 'tied', '--yes'])).code).toBe(0);
  });

  test('lists its runs and gets another name', async () => {
    const runs = await run(['experiments', 'runs', 'faster', '--limit', '2', '--json']);
    expect(JSON.parse(runs.stdout)).toMatchObject({
      runs: [{ experiment_id: 'faster' }, { experiment_id: 'faster' }],
      next_page_token: expect.any(String),
    });
    const all = await run(['experiments', 'runs', 'faster', '--all', '--quiet']);
    expect(all.stdout.trim().split('\n')).toHaveLength(24);
    expect((await run(['experiments', 'update', 'faster'])).code).toBe(2);
    const renamed = await run(['experiments', 'update', 'faster', '--name', 'Faster at last', '--json']);
    expect(JSON.parse(renamed.stdout)).toMatchObject({ id: 'faster', name: 'Faster at last' });
    expect((await run(['experiments', 'list'])).stdout).toMatch(/^faster +batch +Faster at last/m);
  });

  test('has pictures, a report without other files, CSV and the response of the API', async () => {
    const text = await run(['experiments', 'result', 'faster', '--report', 'report.html'], { LANG: 'C' });
    expect(text.code).toBe(0);
    expect(text.stdout).toContain('12 won');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the picture has ASCII characters alone.
    expect(text.stdout.split('\n').filter((line) => /[^\x00-\x7f\u00a0]/.test(line))).toEqual([]);
    expect((await run(['experiments', 'result', 'faster'], { LANG: 'en_GB.UTF-8' })).stdout).toContain('├');
    const report = readFileSync(join(folder, 'report.html'), 'utf8');
    expect(report).toContain("default-src 'none'");
    expect(report.match(/<svg/g)).toHaveLength(2);
    expect(report).toContain('<h2>Release: candidate is better than control');
    expect(report).toContain('candidate is better than control in result.value');
    const csv = (await run(['experiments', 'result', 'faster', '--csv'])).stdout;
    expect(csv).toMatch(
      /^control,candidate,indicator,.*\r\ncontrol,candidate,result\.value,primary,better,false/,
    );
    const { body } = await server.client.call('getBatchExperiment', {
      params: { application_id: application, batch_id: 'faster' },
    });
    expect(JSON.parse((await run(['experiments', 'result', 'faster', '--json'])).stdout)).toEqual(body);
  });

  test('refuses a name that the result does not have', async () => {
    const { code, stderr } = await run(['experiments', 'result', 'faster', '--indicator', 'result.valeu']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: '--indicator is "result.valeu"; the result has result.value.\n',
    });
  });
});

test.each([
  { racing: ['--racing'], confidence: 0.95 },
  { racing: ['--racing', '0.9'], confidence: 0.9 },
])('$racing creates a race with the confidence $confidence', async ({ racing, confidence }) => {
  const args = ['experiments', 'create', 'scenario', ...batchArgs('race').slice(3), ...racing, '--json'];
  expect(JSON.parse((await run(args)).stdout)).toMatchObject({
    racing: { confidence, indicator: 'result.value' },
  });
  expect((await run(['experiments', 'delete', 'race', '--yes'])).code).toBe(0);
});

describe('an acceptance test', () => {
  test.each([
    { id: 'cheaper', share: 0.9, code: 0, sentence: 'Release: candidate meets 1 of 1 rule.' },
    {
      id: 'dearer',
      share: 1.1,
      code: 1,
      sentence:
        'Do not release: candidate meets 0 of 1 rule. Not met: mean of result.value: candidate ≤ control + 1\u00a0%.',
    },
  ])('$id exits with $code', async ({ id, share, code, sentence }) => {
    const ended = await runToEnd(acceptanceArgs(id, '--watch'), id, share);
    // It is another look at the inputs of the batch above, and of a deleted one.
    const first = expect.stringMatching(
      / 12 of these 12 inputs were run .*"faster"; this is look \d, one of them deleted\.$/,
    );
    const [line = ''] = ended.stdout.split('\n');
    expect({ code: ended.code, line, start: line.slice(0, sentence.length) }).toEqual({
      ...{ code, line: first, start: sentence },
    });
    const watched = await run(['experiments', 'watch', id]);
    expect(watched).toMatchObject({ code, stdout: expect.stringContaining(sentence) });
    const decided = await run(['experiments', 'result', id, '--decide']);
    expect(decided).toMatchObject({ code, stdout: expect.stringContaining(sentence) });
    // The batch with the same id is read with its type.
    expect((await run(['experiments', 'watch', id, '--type', 'batch'])).code).toBe(0);
    const changed = ['experiments', 'update', id, '--description', 'Checked'];
    expect((await run(changed)).stdout).toBe(`Updated acceptance ${id}.\n`);
    expect((await run(['experiments', 'runs', id])).stdout).toMatch(/^run-\S+ +succeeded +candidate +v1 /m);
  });

  test('takes its body from a file, and options replace its fields', async () => {
    const body = {
      name: 'From a file',
      control: { instance_id: 'control' },
      candidate: { instance_id: 'nowhere' },
      metrics: [
        {
          field: 'result.value',
          statistic: 'mean',
          metric_type: 'direct-comparison',
          params: { operator: 'le' },
        },
      ],
      input_set_id: inputSet,
    };
    writeFileSync(join(folder, 'spec.json'), JSON.stringify(body));
    const file = ['experiments', 'create', 'acceptance', '--file', 'spec.json'];
    expect(await run(file)).toMatchObject({ code: 5, stderr: expect.stringContaining('nowhere') });
    expect(await run([...file, '--candidate', 'candidate', '--quiet'])).toMatchObject({
      code: 0,
      stdout: 'from-a-file\n',
    });
    expect((await run(['experiments', 'delete', 'from-a-file', '--yes'])).code).toBe(0);
  });
});

describe('a live test', () => {
  const pair = ['--baseline-instance-id', 'control', '--candidate-instance-id', 'candidate'];
  const shadow = ['experiments', 'create', 'shadow', '--id', 'copies', '--maximum-runs', '5', ...pair];

  test('is created as a draft, started, stopped and canceled', async () => {
    expect((await run(shadow)).stdout).toContain('Created shadow copies');
    expect(await run(['experiments', 'watch', 'copies'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('switchyard experiments start copies'),
    });
    expect((await run(['experiments', 'start', 'copies'])).stdout).toBe('Started shadow copies.\n');
    expect((await run(['experiments', 'stop', 'copies', '--cancel'])).code).toBe(0);
    expect((await run(['experiments', 'watch', 'copies'])).code).toBe(1);
  });

  test('F4: an id from a name gets a suffix when it is taken, and one of --id stays exact', async () => {
    const create = async (...args: string[]) =>
      run(['experiments', 'create', 'shadow', '--maximum-runs', '5', ...pair, '--quiet', ...args]);
    const ids = [];
    for (let night = 0; night < 3; night += 1) ids.push((await create('--name', 'Nightly')).stdout.trim());
    const day = expect.stringMatching(/^nightly-\d{4}-\d\d-\d\d$/);
    expect(ids).toEqual(['nightly', day, `${ids[1]}-2`]);
    expect((await create('--id', 'nightly')).code).not.toBe(0);
    expect(await create('--name', '???')).toMatchObject({ code: 2, stderr: expect.stringContaining('--id') });
  });

  test('has a plan in units of time', async () => {
    const units = ['--unit-duration-minutes', '60', '--units', '20', '--plan'];
    const { stdout } = await run(['experiments', 'create', 'switchback', '--id', 'hours', ...pair, ...units]);
    expect(stdout).toContain('20 units of live runs');
    expect(stdout).toMatch(/The plan takes 20\sh/);
  });

  test.each([
    ['shadow', ['--maximum-runs', '5']],
    ['switchback', ['--unit-duration-minutes', '60', '--units', '20']],
  ])('of the type %s gets another name, and has no runs before its start', async (type, args) => {
    const id = `later-${type}`;
    expect((await run(['experiments', 'create', type, '--id', id, ...pair, ...args])).code).toBe(0);
    expect((await run(['experiments', 'update', id, '--name', 'Later'])).stdout).toBe(
      `Updated ${type} ${id}.\n`,
    );
    expect((await run(['experiments', 'list', '--type', type])).stdout).toMatch(
      new RegExp(`^${id} +${type} +Later `, 'm'),
    );
    expect((await run(['experiments', 'runs', id])).stdout).toBe(`The ${type} ${id} has no runs.\n`);
  });
});

test('a wrong amount, rule or id is refused with the allowed values', async () => {
  const cases = [
    { args: ['experiments', 'plan', '--difference', 'much'], code: 2, words: 'a share such as 2%' },
    { args: acceptanceArgs('x', '--metrics', 'result.value mean about 3'), code: 2, words: 'gt, ge, lt, le' },
    { args: ['experiments', 'result', 'nothing'], code: 4, words: 'experiments list' },
    { args: ['experiments', 'list', '--type', 'abtest'], code: 2, words: 'batch, scenario' },
    { args: ['experiments', 'create', 'batch'], code: 2, words: '--name' },
    { args: ['experiments', 'start', 'faster'], code: 2, words: 'starts when it is created' },
  ];
  for (const { args, code, words } of cases)
    expect(await run(args)).toMatchObject({ code, stderr: expect.stringContaining(words) });
});

test('a plan by assumed deviations has sentences and a table of sizes', async () => {
  const deviations = ['--between-inputs', '0.03', '--within-input', '0.05', '--inputs', '20'];
  const { stdout } = await run(['experiments', 'plan', '--difference', '5%', ...deviations]);
  expect(stdout).toContain('REPETITIONS');
  expect(stdout).toContain('Smallest detectable difference');
});

test('F3: bisect prints its cost with --plan, and otherwise the version that made the indicator worse', async () => {
  const params = { application_id: application };
  for (const id of ['v2', 'v3'])
    await server.client.call('createVersion', { params, body: { id, name: `Version ${id}` } });
  const search = ['--indicator', 'result.value', '--difference', '5%', '--input-set-id', inputSet];
  await createRun(server, application, {
    instance: 'control',
    input: {},
    body: {
      configuration: { run_type: { type: 'external' } },
      result: { status: 'succeeded', execution_duration: 60_000 },
    },
  });
  const plan = (...args: string[]) => run(['bisect', ...args, ...search, '--plan']);
  const planned = await plan('v1', 'v3', '--instance-id', 'control');
  // Two tests of seven rounds: the least n with 1.9^n / 2 >= 2 / 0.05.
  expect(planned.stdout).toBe(
    [
      'Up to 2 tests among 3 versions, each in rounds of 24 runs: two versions on 12 inputs.',
      '336 runs if each test decides after the fewest rounds, and at most 10,000.',
      'About 5\u00a0h\u00a036\u00a0min for the fewest rounds with 1 slot, by past runs of the same instances.',
      'Nothing was created.',
      '',
    ].join('\n'),
  );
  expect(JSON.parse((await plan('v1', 'v3', '--json')).stdout)).toMatchObject({
    request: { good_version_id: 'v1' },
    runs: [{ instance: 'latest', runs: 24 }],
    plan: { version_ids: ['v1', 'v2', 'v3'], runs_per_round: 24, minimum_runs: 336 },
  });
  expect(await plan('v3', 'v1')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('bad_version_id is "v1"'),
  });
  const searches = await run(['experiments', 'list', '--type', 'bisect']);
  expect(searches.stdout).toContain('no such experiments');

  const command = run(['bisect', 'v1', 'v3', '--id', 'dearer-since', ...search]);
  const readStatus = async (): Promise<string> => {
    const path = `/v1/applications/${application}/experiments/bisect/dearer-since/metadata`;
    const { status, body } = await server.request('GET', path);
    return status === 200 ? (body as { status: string }).status : '';
  };
  await expect.poll(readStatus).toBe('started');
  const chooseByVersion = ({ version_id }: ChosenRun) => ({
    indicators: { 'result.value': version_id === 'v3' ? 110 : 100 },
  });
  await expect
    .poll(async () => {
      await endRuns(server, 'dearer-since', chooseByVersion);
      return readStatus();
    })
    .toBe('completed');
  const { code, stdout } = await command;
  expect(code).toBe(0);
  expect(stdout).toContain('"v3"');
  expect(stdout).toContain('Steps of the search');
  expect((await run(['experiments', 'update', 'dearer-since', '--name', 'Dearer'])).code).toBe(0);
  expect((await run(['experiments', 'runs', 'dearer-since'])).stdout).toMatch(
    /^run-\S+ +succeeded +v[123] +in-\d+ /m,
  );
});

test('an ensemble is defined from a file, read, listed, changed and deleted', async () => {
  writeFileSync(
    join(folder, 'ensemble.yaml'),
    `id: best
name: The best of two
run_groups:
  - {id: two, instance_id: control, repetitions: 2}
rules:
  - {id: cost, statistics_path: result.value, objective: minimize, index: 0}
`,
  );
  expect((await run(['ensembles', 'create', '--file', 'ensemble.yaml', '--quiet'])).stdout).toBe('best\n');
  expect((await run(['ensembles', 'list', '--quiet'])).stdout).toBe('best\n');
  const changed = (await run(['ensembles', 'update', 'best', '--name', 'Cheapest'])).stdout;
  expect(changed).toMatch(/^name +Cheapest$/m);
  expect((await run(['ensembles', 'get', 'best'])).stdout).toBe(changed);
  expect(changed).toMatch(/^group two +2 × control$/m);
  expect(changed).toMatch(/^rule 0 +minimize result\.value$/m);
  const planned = await run(['run', '--ensemble-id', 'best', '--plan']);
  expect(planned.stdout).toMatch(
    /^2 runs: 2 of control\.\nAbout .+ slots?, by past runs.+\nNothing was created\.\n$/,
  );
  expect((await run(['ensembles', 'update', 'best'])).code).toBe(2);
  expect((await run(['ensembles', 'delete', 'best', '--yes'])).code).toBe(0);
  expect((await run(['ensembles', 'list'])).stdout).toContain('has no ensembles');
});
