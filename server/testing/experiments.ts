/** Experiments for tests: an application whose indicators are known by arithmetic, made and waited for through the API. */
import type { BatchExperiment, BatchExperimentInfo } from '@switchyard/contract/batch-experiments.ts';
import type { ExperimentId } from '@switchyard/contract/ids.ts';
import { isExperimentOver } from '@switchyard/contract/states.ts';
import { expect } from 'vitest';
import { nodeApp, pushApp, runToEnd } from './apps.ts';
import { expectStatus, freshId } from './resources.ts';
import type { TestServer } from './server.ts';

/**
 * Answers `result.value` = size × factor + shift of its options (1 and 0 when absent); with `waits` it waits for the signal
 * to end, with `fails` it fails, and `report` of its input takes the place of what it reports.
 */
export const ARITHMETIC = nodeApp(`async (input, options) => {
  if (options.fails === 'true' || input.fails) process.exit(1);
  if (options.waits === 'true') {
    console.error('waiting');
    await new Promise((resolve) => { process.on('SIGTERM', () => process.exit(1)); setInterval(() => {}, 1000); });
  }
  const value = input.size * Number(options.factor ?? 1) + Number(options.shift ?? 0);
  const result = input.report ?? { value, custom: { twice: 2 * value } };
  return { statistics: { schema: 'v1', result } };
}`);

/** Makes the application with that app as version `v1`, instances of it with the options given, and an input set `sizes`. */
export async function experimentalApplication(
  server: TestServer,
  application: string,
  instances: Record<string, Record<string, string>>,
  inputs: readonly object[] = [{ size: 1 }, { size: 2 }, { size: 3 }],
): Promise<string[]> {
  await pushApp(server, application, ARITHMETIC);
  const params = { application_id: application };
  await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
  for (const [id, options] of Object.entries(instances))
    await server.client.call('createInstance', {
      params,
      body: { id, name: `Instance ${id}`, version_id: 'v1', configuration: { options } },
    });
  const runs = await Promise.all(inputs.map((input) => runToEnd(server, application, { input })));
  const run_ids = runs.map((run) => run.id);
  await server.client.call('createInputSet', { params, body: { id: 'sizes', name: 'Sizes', run_ids } });
  return run_ids;
}

export const batchPath = (application: string, rest = ''): string =>
  `/v1/applications/${application}/experiments/batch${rest}`;

/** Makes a batch experiment. */
export async function makeBatch(
  server: TestServer,
  application: string,
  body: object,
): Promise<BatchExperimentInfo> {
  const answer = await server.ask('POST', batchPath(application), {
    body: { id: freshId('batch'), name: 'Any name', ...body },
  });
  expectStatus(answer, 201);
  return answer.body as BatchExperimentInfo;
}

/** Waits until every planned run of the experiment was submitted or refused. */
export async function allSubmitted(server: TestServer, id: string): Promise<void> {
  const planned = server.running.database.read
    .selectFrom('planned_runs')
    .select('position')
    .where('experiment_id', '=', id as ExperimentId)
    .where('error', '=', '');
  await expect.poll(() => planned.executeTakeFirst(), { timeout: 60_000 }).toBeUndefined();
}

/** Waits until the experiment is over, and answers it. */
export async function batchEnded(
  server: TestServer,
  application: string,
  id: string,
): Promise<BatchExperiment> {
  await server.until('experiments-ended', async () => {
    const answer = await server.ask('GET', batchPath(application, `/${id}/metadata`));
    expectStatus(answer, 200);
    return isExperimentOver((answer.body as BatchExperimentInfo).status);
  });
  const answer = await server.ask('GET', batchPath(application, `/${id}`));
  expectStatus(answer, 200);
  return answer.body as BatchExperiment;
}
