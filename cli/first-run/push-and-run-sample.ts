/**
 * The first run of a new server: pushes the sample apps through the API, and plans the sample input of the vehicle-routing
 * app, which gets the name `sample`. It skips completed steps, so an interrupted first start continues where it stopped.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@switchyard/contract/client.ts';
import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import type { InputId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { readAppManifest } from '../packing/manifest.ts';
import { applicationExists, pushApp } from '../packing/push-app.ts';

const SAMPLE_APP = 'vehicle-routing';
const RUN_NAME = 'First run';
/** Name of the input of the first run, with which a user can run it again. */
const SAMPLE_INPUT = 'sample' as InputId;
const POLL_MS = 200;

export interface FirstRunResult {
  pushedApplications: string[];
  application: string;
  runId: string;
  status: string;
  /** Error of the run; empty after success. */
  error: string;
  /** The objective value the app reported, when it succeeded. */
  value: number | string | boolean | null;
  indicators: { name: string; value: unknown }[];
  seconds: number;
}

/** Pushes the apps in the folder and runs the sample app; `print` receives each step. */
export async function pushAndRunSample(
  client: Client,
  appsFolder: string,
  print: (line: string) => void,
): Promise<FirstRunResult> {
  const pushed: string[] = [];
  const names = readdirSync(appsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  // The sample app first, so that its result does not wait for the others.
  for (const name of names.sort((a, b) => Number(b === SAMPLE_APP) - Number(a === SAMPLE_APP))) {
    if (await isPushed(client, name)) continue;
    const folder = join(appsFolder, name);
    const application = {
      id: name,
      name: title(name),
      description: readAppManifest(folder).manifest.description?.slice(0, 128) ?? '',
    };
    await pushApp(client, folder, application);
    pushed.push(name);
    print(`pushed ${name}`);
  }
  const input: unknown = JSON.parse(readFileSync(join(appsFolder, SAMPLE_APP, 'input.json'), 'utf8'));
  const params = { application_id: SAMPLE_APP, run_id: await findOrCreateRun(client, input) };
  await nameInput(client, params.run_id);
  for (;;) {
    const { body } = await client.call('getRunMetadata', { params });
    if (isTerminal(body.status_v2)) {
      const { indicators } = body.statistics;
      return {
        pushedApplications: pushed,
        application: SAMPLE_APP,
        runId: body.id,
        status: body.status_v2,
        error: body.error,
        value: indicators.find((one) => one.name === 'result.value')?.value ?? null,
        indicators,
        seconds: body.execution_duration / 1000,
      };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A first start that was interrupted has left its run in the queue, where it is waited for. */
async function findOrCreateRun(client: Client, input: unknown): Promise<RunId> {
  const params = { application_id: SAMPLE_APP };
  const listed = await client.call('listRuns', { params, query: { name: RUN_NAME } });
  const [earlier] = listed.body.runs;
  if (earlier) return earlier.id;
  const created = await client.call('createRun', {
    params,
    body: { input, name: RUN_NAME, description: 'The sample input, planned on the first start.' },
  });
  return created.body.run_id;
}

async function nameInput(client: Client, run_id: RunId): Promise<void> {
  const params = { application_id: SAMPLE_APP };
  const listed = await client.call('listInputs', { params });
  const inputs = Array.isArray(listed.body) ? listed.body : listed.body.items;
  if (inputs.some(({ id }) => id === SAMPLE_INPUT)) return;
  const description = 'The sample input of the app, as the first run had it.';
  await client.call('createInput', {
    params,
    body: { id: SAMPLE_INPUT, name: 'Sample input', description, run_id },
  });
}

async function isPushed(client: Client, id: string): Promise<boolean> {
  if (!(await applicationExists(client, id))) return false;
  const { body } = await client.call('getApplication', { params: { application_id: id } });
  return body.active_executable !== null;
}

function title(name: string): string {
  return capitalise(name.replaceAll('-', ' '));
}
