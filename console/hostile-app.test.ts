/**
 * A hostile application and worker: names, descriptions, options, logs, outputs and assets try to run as script, to reorder text and
 * to reach spreadsheets as formulas. The test visits every route of the router, so a new page cannot be forgotten.
 */
import { readFile } from 'node:fs/promises';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { SHARED_PARTS } from '@switchyard/contract/account/shared-parts.ts';
import { createAcceptanceTest, MEAN_METRIC } from '@switchyard/server/testing/fixtures/acceptance-tests.ts';
import {
  createRun,
  createRunAndWait,
  pushApp,
  waitForRunEnd,
} from '@switchyard/server/testing/fixtures/apps.ts';
import {
  createBatchExperiment,
  waitForBatchEnd,
} from '@switchyard/server/testing/fixtures/batch-experiments.ts';
import { registerFakeWorker } from '@switchyard/server/testing/fixtures/fake-worker.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { createWorkerToken } from '@switchyard/server/testing/servers/worker-process.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { applicationPrefixRoutes, prefixRoutes } from './layout/prefix-routes.ts';
import { router } from './router.tsx';
import { setUpConsole } from './testing/console-visit.ts';
import { findInjections } from './testing/find-injections.ts';
import { follow, watchRequests } from './testing/follow-pages.ts';
import { formatHostileOutput, HOSTILE_ASSETS, HOSTILE_NAME, HOSTILE_TEXT } from './testing/hostile-output.ts';
import { publishHostileApp } from './testing/publish-hostile-app.ts';

const APP = 'hostile';
const OPTION = {
  name: 'speed',
  option_type: 'string',
  default: HOSTILE_TEXT,
  description: HOSTILE_TEXT,
  ui: { control_type: 'input', display_name: HOSTILE_TEXT },
};
/** The value of the option with which the app runs until its test ends. */
const WAIT = 'wait';
/** Prints escapes of a terminal and a reversed line to its log, and its input as its output. */
const FILES = {
  main: `#!/bin/sh
[ "$2" = ${WAIT} ] && exec sleep 600
printf '\\033]0;hacked\\007\\033[31m<img src=x onerror=alert(1)> \\342\\200\\256evil\\n' >&2
cat
`,
};
/** A file of the second version: its name and its lines are hostile. */
const HOSTILE_FILE = `${HOSTILE_TEXT}.txt`;
/** The output of the app: hostile data in every view, and assets in every place. */
const OUTPUT = {
  ...JSON.parse(formatHostileOutput()),
  [HOSTILE_TEXT]: HOSTILE_TEXT,
  statistics: { schema: 'v1', result: { value: 1, custom: { [HOSTILE_TEXT]: 3 } } },
  visualization: ['routes', 'gantt', 'table'].map((schema) => ({
    schema,
    label: HOSTILE_TEXT,
    path: { routes: 'solution.vehicles', gantt: 'solution.assignments' }[schema] ?? 'solution.rows',
  })),
  assets: [
    ...HOSTILE_ASSETS.assets,
    ...HOSTILE_ASSETS.assets.map((asset) => ({ ...asset, visual: { ...asset.visual, type: 'summary-tab' } })),
  ],
};

/** Ids of the hostile resources, by the parameters of routes. */
type Parameters = Record<string, string>;

async function createHostileResources(server: TestServer): Promise<Parameters> {
  const params = { application_id: APP };
  const named = { name: HOSTILE_NAME, description: HOSTILE_TEXT };
  const meaning = { label: HOSTILE_TEXT, unit: HOSTILE_NAME.slice(-16) };
  await server.client.call('createApplication', {
    body: {
      ...{ id: APP, ...named },
      objective: { name: 'result.value', direction: 'minimize' },
      indicators: {
        'result.value': meaning,
        [`result.custom.${HOSTILE_TEXT}`]: { ...meaning, role: 'violation' },
      },
    },
  });
  await pushApp(server, APP, FILES, {
    executable_type: 'binary',
    entrypoint: 'main',
    options: { strict: false, items: [OPTION] },
  });
  await server.client.call('createVersion', { params, body: { id: 'v1', ...named } });
  await server.client.call('createInstance', { params, body: { id: 'i1', version_id: 'v1', ...named } });
  const run = await createRunAndWait(server, APP, {
    instance: 'i1',
    input: OUTPUT,
    body: { ...named, options: { speed: HOSTILE_TEXT } },
  });
  expect(run.status_v2).toBe('succeeded');
  const other = await createRunAndWait(server, APP, {
    instance: 'i1',
    input: { [HOSTILE_TEXT]: HOSTILE_TEXT },
    body: named,
  });
  await server.client.call('createInput', { params, body: { id: 'input', ...named, run_id: run.id } });
  await server.client.call('createInputSet', { params, body: { id: 'inputs', ...named, run_ids: [run.id] } });
  const ensembleRun = await createHostileEnsemble(server);
  await createHostileExperiments(server);
  await createHostileSettings(server);
  await fillSlots(server);
  await server.client.call('setRunTags', {
    params: { ...params, run_id: run.id },
    body: { tags: [HOSTILE_NAME, `team=${HOSTILE_NAME}`] },
  });
  await server.client.call('createRunView', {
    params,
    body: { name: HOSTILE_NAME, is_shared: true, table: { columns: [`indicator:${HOSTILE_INDICATOR}`] } },
  });
  return {
    application: APP,
    token: await createShareToken(server, run.id),
    run: run.id,
    otherRun: other.id,
    ensembleRun,
    input: 'input',
    inputSet: 'inputs',
    ensemble: 'ensemble',
    type: 'batch',
    id: 'batch',
    webhook: 'hook',
    ...(await publishHostileApp(server, APP)),
    instance: 'i1',
  };
}

/** Creates an ensemble, runs it to its end, and returns the id of its run. */
async function createHostileEnsemble(server: TestServer): Promise<string> {
  const params = { application_id: APP };
  const named = { name: HOSTILE_NAME, description: HOSTILE_TEXT };
  await server.client.call('createEnsemble', {
    params,
    body: {
      id: 'ensemble',
      ...named,
      run_groups: [{ id: 'one', instance_id: 'i1', repetitions: 2 }],
      rules: [
        {
          id: 'cost',
          statistics_path: 'result.value',
          objective: 'minimize',
          index: 0,
          tolerance: { type: 'absolute', value: 1 },
        },
      ],
    },
  });
  const ensembleRun = await createRun(server, APP, {
    input: OUTPUT,
    body: { ...named, configuration: { run_type: { type: 'ensemble', definition_id: 'ensemble' } } },
  });
  await waitForRunEnd(server, APP, ensembleRun);
  return ensembleRun;
}

const SLOTS = 2;

/** Fills the slots, so that the queue shows running runs and one that waits. */
async function fillSlots(server: TestServer): Promise<void> {
  for (let count = 0; count <= SLOTS; count += 1)
    await createRun(server, APP, {
      input: {},
      body: { name: HOSTILE_NAME, description: HOSTILE_TEXT, options: { speed: WAIT } },
    });
}

/** Creates a secrets collection and a webhook. */
async function createHostileSettings(server: TestServer): Promise<void> {
  await server.client.call('createSecretsCollection', {
    params: { application_id: APP },
    body: {
      id: 'secrets',
      name: HOSTILE_NAME,
      description: HOSTILE_TEXT,
      secrets: [{ type: 'env', location: 'LICENCE', value: HOSTILE_TEXT }],
    },
  });
  await server.client.call('createWebhook', {
    body: {
      id: 'hook',
      event_types: ['run.status'],
      endpoint_url: 'https://evil.example/hook',
      description: HOSTILE_TEXT,
    },
  });
}

const HOSTILE_INDICATOR = `result.custom.${HOSTILE_TEXT}`;
/** Types of experiments other than batch; each has one with its type as its id. */
const OTHER_EXPERIMENTS = ['scenario', 'acceptance', 'shadow', 'switchback', 'bisect'];

/** Creates an experiment of each type. Only the batch and the scenario test execute runs. */
async function createHostileExperiments(server: TestServer): Promise<void> {
  const params = { application_id: APP };
  const named = { name: HOSTILE_NAME, description: HOSTILE_TEXT };
  const onInputs = { ...named, input_set_id: 'inputs', objectives: { [HOSTILE_INDICATOR]: 'minimize' } };
  await createBatchExperiment(server, APP, {
    id: 'batch',
    ...onInputs,
    runs: [{ instance_id: 'i1' }, { ensemble_id: 'ensemble' }],
    features: [`/${HOSTILE_TEXT}`],
  });
  await createBatchExperiment(server, APP, {
    id: 'scenario',
    ...onInputs,
    type: 'scenario',
    instance_ids: ['i1'],
    option_sets: { one: { speed: HOSTILE_TEXT }, two: { speed: '2' } },
  });
  await createAcceptanceTest(server, APP, {
    id: 'acceptance',
    ...named,
    experiment_id: 'batch',
    control: { instance_id: 'i1' },
    candidate: { ensemble_id: 'ensemble' },
    metrics: [{ ...MEAN_METRIC, field: HOSTILE_INDICATOR }],
  });
  const comparison = { baseline_instance_id: 'i1', candidate_instance_id: 'latest' };
  const objectives = { [HOSTILE_INDICATOR]: 'minimize' as const };
  await server.client.call('createShadowTest', {
    params,
    body: { id: 'shadow', ...named, comparison, objectives, termination_events: { maximum_runs: 1 } },
  });
  await server.client.call('createSwitchbackTest', {
    params,
    body: {
      id: 'switchback',
      ...named,
      comparison,
      objectives,
      generate_random_plan: { unit_duration_minutes: 60, units: 20 },
    },
  });
  await pushApp(
    server,
    APP,
    { ...FILES, [HOSTILE_FILE]: `${HOSTILE_TEXT}\n` },
    { executable_type: 'binary', entrypoint: 'main', options: { strict: false, items: [OPTION] } },
  );
  await server.client.call('createVersion', { params, body: { id: 'v2', ...named } });
  await server.client.call('createBisectExperiment', {
    params,
    body: {
      id: 'bisect',
      ...named,
      input_set_id: 'inputs',
      indicator: HOSTILE_INDICATOR,
      good_version_id: 'v1',
      bad_version_id: 'v2',
      difference: { type: 'absolute', value: 1 },
    },
  });
  await server.client.call('stopBisectExperiment', { params: { ...params, bisect_id: 'bisect' } });
  await waitForBatchEnd(server, APP, 'batch');
  await waitForBatchEnd(server, APP, 'scenario');
}

/** Shares every part of the run, and returns the token of the link. */
async function createShareToken(server: TestServer, run: string): Promise<string> {
  const { body } = await server.client.call('createShare', {
    params: { application_id: APP, run_id: run },
    body: { parts: [...SHARED_PARTS], expires_in_hours: 1 },
  });
  return new URL(body.url).pathname.split('/').at(-1) ?? '';
}

/** Returns the address of a route. A route with a parameter that is not known here needs a hostile resource above. */
function fillRoute(path: string, parameters: Parameters): string {
  return path.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const isEnsembleRun = name === 'run' && path.includes('/ensembles/');
    const value = parameters[isEnsembleRun ? 'ensembleRun' : name];
    if (value === undefined) throw new Error(`The route ${path} needs a hostile resource for $${name}.`);
    return value;
  });
}

/** Parts of pages that a route alone does not show. */
function listParts({ application, run, otherRun, input }: Parameters): string[] {
  const page = `/apps/${application}/runs/${run}`;
  const tabs = [
    'output&mode=view',
    'output&mode=tree',
    'output&mode=table',
    'output&mode=raw',
    'input',
    'log',
  ];
  return [
    ...tabs.map((tab) => `${page}?tab=${tab}`),
    `${page}?tab=${encodeURIComponent(`asset:${HOSTILE_ASSETS.assets[0]?.visual.label}`)}`,
    `${page}/content?part=assets`,
    `/apps/${application}/new-run?from=${run}`,
    `/apps/${application}/compare?runs=${run}`,
    `/apps/${application}/compare?runs=${run},${otherRun}`,
    `/apps/${application}/logs?text=e`,
    `/apps/${application}/compare-versions?from=v1&to=v2&file=${encodeURIComponent(HOSTILE_FILE)}`,
    `/apps/${application}/runs?columns=${encodeURIComponent(JSON.stringify([`indicator:${HOSTILE_INDICATOR}`, 'option:speed']))}`,
    `/apps/${application}/inputs/${input}?mode=view`,
    ...OTHER_EXPERIMENTS.map((type) => `/apps/${application}/experiments/${type}/${type}`),
    `/apps/${application}/new-experiment?type=batch&from=batch`,
    `/apps/${application}/new-experiment?type=acceptance&from=acceptance`,
  ];
}

/** Presses each button that downloads CSV, and returns the cells that a spreadsheet would compute. */
async function findFormulas(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const button of await page.getByRole('button', { name: 'Download CSV' }).all()) {
    const waiting = page.waitForEvent('download');
    await button.click();
    const csv = await readFile(await (await waiting).path(), 'utf8');
    found.push(...csv.split(/[,\r\n]+/).filter((cell) => /^"?[=+@\t]/.test(cell)));
  }
  return found;
}

/** Shows the saved views of the application. */
async function openViews(page: Page): Promise<void> {
  await page.goto(new URL(`/console/apps/${APP}/runs`, page.url()).href);
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await page.getByText(HOSTILE_NAME).last().waitFor();
}

/** Shows a worker token and a remote worker. The worker registers here, because it counts as dead after 30 s without a sync. */
async function openWorkers(page: Page, server: TestServer): Promise<void> {
  const { token } = await createWorkerToken(server, { name: HOSTILE_NAME, applications: [APP] });
  await registerFakeWorker(server, token, { host: HOSTILE_NAME, version: HOSTILE_NAME });
  await page.goto(new URL('/console/workers', page.url()).href);
  await page.getByRole('button', { name: /^Drain =1/ }).waitFor();
  await page.getByRole('button', { name: /^Actions of =1/ }).waitFor();
}

/** Shows views, runs and applications in the command palette. */
async function openPalette(page: Page): Promise<void> {
  await page.goto(new URL(`/console/apps/${APP}/runs`, page.url()).href);
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: /^=1/ }).first().waitFor();
}

describe.skipIf(!hasBrowser)('a hostile application', () => {
  let parameters: Parameters = {};
  const at = setUpConsole(
    async (server) => {
      parameters = await createHostileResources(server);
    },
    { env: { SWITCHYARD_CAPACITY: String(SLOTS) } },
  );

  test('runs no script, reorders no text and exports no formula on any page', async () => {
    const page = await at.open();
    // The stream of the account would keep every page from having no open request. This response says that nothing follows.
    await page.route('**/v1/account/events', (route) => route.fulfill({ status: 204 }));
    // A prefix leads to a page that another route shows, and the sign-in to the first one.
    const others = ['/sign-in', ...[...prefixRoutes, ...applicationPrefixRoutes].map((one) => one.fullPath)];
    const routes = Object.keys(router.routesByPath).filter((path) => !others.includes(path));
    expect(routes).toContain('/apps/$application/runs/$run');
    const parts = listParts(parameters);
    const addresses = [...routes.map((path) => fillRoute(path, parameters)), ...parts];
    const found: [string, string[]][] = [];
    const waitForData = watchRequests(page);
    for (const address of addresses) {
      // A part needs a document, because it has the page of the route before it.
      if (parts.includes(address)) await page.goto(`${at.server.url}/console${address}`);
      else await follow(page, `/console${address}`);
      await waitForData();
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      const problems = [...(await page.evaluate(findInjections)), ...(await findFormulas(page))];
      if (problems.length > 0) found.push([address, problems]);
    }
    for (const open of [openViews, openWorkers, openPalette]) {
      await open(page, at.server);
      const problems = await page.evaluate(findInjections);
      if (problems.length > 0) found.push([open.name, problems]);
    }
    expect(found).toEqual([]);
  });
});
