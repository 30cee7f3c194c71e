/**
 * Runs schemathesis against the API with the API's own document, and reports every contradiction.
 *
 * node conformance/fuzz/fuzz.ts [--minutes 6] [--seed 1] [--only planExperiment,replayRun]
 *
 * Every operation of the document is fuzzed, or those that `--only` names, by their ids.
 * It starts a server and creates an application with a version, an instance and runs, so that requests go beyond "not
 * found". Several passes share the time, each with its own seed. The exit code is 1 if there is any finding.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRun, nodeApp, pushApp } from '../../server/testing/fixtures/apps.ts';
import { installPythonPackage } from '../../server/testing/python/python-package.ts';
import { type ServerProcess, startServerProcess } from '../../server/testing/servers/server-process.ts';

const PASSES = 3;
const EXAMPLES = 40;
/** Probability of an existing id for a parameter; otherwise schemathesis generates one. */
const KNOWN_ID = 0.6;

/**
 * Checks of schemathesis that contradict a decision of this API.
 *
 * - `unsupported_method` expects 405; this API returns 404 for an unknown method, as for every unknown path. A check in
 * fuzz_checks.py replaces it.
 * - `positive_data_acceptance` accepts no refusal of a well-formed request. A check in fuzz_checks.py allows refusals
 * by rules that a document cannot state.
 */
const EXCLUDED_CHECKS = ['unsupported_method', 'positive_data_acceptance'];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '6' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const firstSeed = Number(values.seed);
const selected = values.only?.split(',') ?? [];
if (!(minutes > 0) || !Number.isInteger(firstSeed))
  throw new Error('--minutes must be a number above 0, and --seed a whole number.');

interface Ids {
  applications: string[];
  versions: string[];
  instances: string[];
  runs: string[];
  inputs: string[];
  sets: string[];
  ensembles: string[];
  shadows: string[];
  switchbacks: string[];
  acceptances: string[];
  batches: string[];
  bisects: string[];
}

/** Creates resources with the ids that the examples of the document name, so that the examples succeed. */
async function furnish(server: ServerProcess): Promise<Ids> {
  const application = 'routing';
  const params = { application_id: application };
  await pushApp(server, application, nodeApp('(input) => ({ solution: input ?? null })'));
  for (const id of ['v1', 'v4'])
    await server.client.call('createVersion', { params, body: { id, name: `Version ${id}` } });
  await server.client.call('createInstance', {
    params,
    body: { id: 'production', name: 'Production', version_id: 'v1' },
  });
  const runs = [
    await createRun(server, application, { input: { stops: [] } }),
    await createRun(server, application, { instance: 'production', input: { stops: [1] } }),
  ];
  await server.client.call('createInput', { params, body: { id: 'monday', run_id: runs[0] } });
  await server.client.call('createInputSet', { params, body: { id: 'peaks', name: 'Peaks', run_ids: runs } });
  await server.client.call('createEnsemble', {
    params,
    body: {
      id: 'best',
      name: 'The best',
      run_groups: [{ id: 'one', instance_id: 'production' }],
      rules: [{ id: 'cost', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
    },
  });
  await createExperiments(server, params);
  // The runs end while schemathesis reads the document.
  return {
    applications: [application],
    versions: ['v1', 'v4'],
    instances: ['production', 'latest'],
    runs,
    inputs: ['monday'],
    sets: ['peaks'],
    ensembles: ['best'],
    shadows: ['shadow'],
    switchbacks: ['switchback'],
    acceptances: ['accepted'],
    batches: ['accepted', 'faster-planner'],
    bisects: ['bisect'],
  };
}

/** Creates one experiment of each kind, with the ids that `furnish` returns. */
async function createExperiments(server: ServerProcess, params: { application_id: string }): Promise<void> {
  const comparison = { baseline_instance_id: 'production', candidate_instance_id: 'latest' };
  await server.client.call('createShadowTest', {
    params,
    body: { id: 'shadow', name: 'Shadow', comparison, termination_events: { maximum_runs: 5 } },
  });
  await server.client.call('createSwitchbackTest', {
    params,
    body: {
      id: 'switchback',
      name: 'Switchback',
      comparison,
      generate_random_plan: { unit_duration_minutes: 1, units: 2 },
    },
  });
  await server.client.call('createAcceptanceTest', {
    params,
    body: {
      id: 'accepted',
      name: 'Accepted',
      control: { instance_id: 'production' },
      candidate: { instance_id: 'latest' },
      metrics: [
        {
          field: 'result.value',
          statistic: 'mean',
          metric_type: 'direct-comparison',
          params: { operator: 'le' },
        },
      ],
      input_set_id: 'peaks',
    },
  });
  await server.client.call('createBatchExperiment', {
    params,
    body: {
      id: 'faster-planner',
      name: 'Batch',
      input_set_id: 'peaks',
      instance_ids: ['production', 'latest'],
    },
  });
  await server.client.call('createBisectExperiment', {
    params,
    body: {
      id: 'bisect',
      name: 'Bisect',
      input_ids: ['monday'],
      indicator: 'result.value',
      good_version_id: 'v1',
      bad_version_id: 'v4',
      difference: { type: 'relative', value: 0.05 },
    },
  });
}

type OpenApiDocument = { paths: Record<string, Record<string, { operationId: string }>> };

/** Lists the operations that delete or demote. They get only generated ids, so that the resources of others stay. */
async function listDestructiveOperations(server: ServerProcess): Promise<string[]> {
  const response = await fetch(`${server.url}/openapi/cloud.json`);
  const { paths }: OpenApiDocument = JSON.parse(await response.text());
  const deleting = Object.values(paths).flatMap((methods) => methods.delete?.operationId ?? []);
  // schemathesis reads a response to its end, which this one does not have.
  return [...deleting, 'updateMember', 'streamAccountEvents'];
}

/** A JSON array of strings is a TOML array too. */
function settings(ids: Ids, destructive: readonly string[]): string {
  const dictionaries = Object.entries(ids).map(
    ([name, known]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(known)}\n`,
  );
  const known = (name: keyof Ids) => `{ dictionary = "${name}", probability = ${KNOWN_ID} }`;
  return `${dictionaries.join('\n')}
[[operations]]
exclude-operation-id = ${JSON.stringify(destructive)}
[operations.parameters]
"path.application_id" = ${known('applications')}
"path.version_id" = ${known('versions')}
"path.instance_id" = ${known('instances')}
"path.run_id" = ${known('runs')}
"path.input_id" = ${known('inputs')}
"path.input_set_id" = ${known('sets')}
"path.ensemble_id" = ${known('ensembles')}
"path.shadow_id" = ${known('shadows')}
"path.switchback_id" = ${known('switchbacks')}
"path.acceptance_id" = ${known('acceptances')}
"path.batch_id" = ${known('batches')}
"path.bisect_id" = ${known('bisects')}
"query.instance_id" = ${known('instances')}
`;
}

const schemathesis = await installPythonPackage('schemathesis');
const data = mkdtempSync(join(tmpdir(), 'switchyard-fuzz-'));
const faults: string[] = [];
const server = await startServerProcess({
  dataFolder: data,
  env: { SWITCHYARD_LOG_LEVEL: 'error' },
  onLog: (line) => faults.push(line),
});
const config = join(data, 'schemathesis.toml');

function pass(seed: number): Promise<number> {
  const child = spawn(
    schemathesis.commandPath('schemathesis'),
    [
      ...['--config-file', config, 'run', `${server.url}/openapi/cloud.json`, '--no-color'],
      ...['--header', `Authorization: Bearer ${server.token}`],
      ...['--checks', 'all', '--exclude-checks', EXCLUDED_CHECKS.join(',')],
      ...['--max-examples', String(EXAMPLES), '--max-time', String(Math.ceil((minutes * 60) / PASSES))],
      ...['--seed', String(seed), '--continue-on-failure', '--generation-database', 'none'],
      // Generated ids of missing resources are intended.
      ...['--warnings', 'off'],
      ...selected.flatMap((id) => ['--include-operation-id', id]),
    ],
    {
      cwd: data,
      env: {
        PATH: process.env.PATH,
        HOME: data,
        PYTHONPATH: import.meta.dirname,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'fuzz_checks',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

try {
  writeFileSync(config, settings(await furnish(server), await listDestructiveOperations(server)));
  const codes: number[] = [];
  for (let seed = firstSeed; seed < firstSeed + PASSES; seed += 1) codes.push(await pass(seed));
  const alive = await server.request('GET', '/healthz').then(
    ({ status }) => status === 200,
    () => false,
  );
  for (const fault of faults) process.stdout.write(`the server logged: ${fault}\n`);
  if (!alive) process.stdout.write('The server does not answer any more.\n');
  const clean = codes.every((code) => code === 0) && faults.length === 0 && alive;
  process.stdout.write(
    `${PASSES} passes, exit codes ${codes.join(', ')}: ${clean ? 'no finding' : 'findings above'}\n`,
  );
  process.exitCode = clean ? 0 : 1;
} finally {
  await server.kill('SIGTERM');
  rmSync(data, { recursive: true, force: true });
}
