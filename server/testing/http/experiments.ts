/** Resources of every kind of experiment, for tests of all operations. */
import type { OperationId } from '@switchyard/contract/operations.ts';
import type { TestServer } from '../servers/test-server.ts';

export const ENSEMBLE = {
  name: 'The best',
  run_groups: [{ id: 'one', instance_id: 'latest', options: { seed: 1 } }],
  rules: [{ id: 'cost', statistics_path: 'result.value', objective: 'minimize' as const, index: 0 }],
};

/**
 * Creates one resource of each kind of experiment, and returns the bodies that create another one. No run of them remains
 * unfinished.
 */
export async function createExperiments(
  server: TestServer,
  application_id: string,
  run_id: string,
): Promise<Partial<Record<OperationId, unknown>>> {
  const params = { application_id };
  await server.client.call('createInput', { params, body: { id: 'monday', run_id } });
  const set = { id: 'peaks', name: 'Peaks', run_ids: [run_id] };
  await server.client.call('createInputSet', { params, body: set });
  await server.client.call('createEnsemble', { params, body: { id: 'best', ...ENSEMBLE } });
  const comparison = { baseline_instance_id: 'i1', candidate_instance_id: 'latest' };
  const shadow = { id: 'shadow', name: 'Shadow', comparison, termination_events: { maximum_runs: 1 } };
  await server.client.call('createShadowTest', { params, body: shadow });
  const plan = { unit_duration_minutes: 1, units: 1 };
  const switchback = { id: 'switchback', name: 'Switchback', comparison, generate_random_plan: plan };
  await server.client.call('createSwitchbackTest', { params, body: switchback });
  await createCompletedExperiment(server, application_id);
  const metric_type = 'direct-comparison' as const;
  const atMost = { operator: 'le' as const };
  const metric = { field: 'result.value', statistic: 'mean', metric_type, params: atMost };
  const accept = {
    name: 'Any name',
    control: { instance_id: 'i1' },
    candidate: { instance_id: 'latest' },
    metrics: [metric],
    input_set_id: 'peaks',
  };
  await server.client.call('createAcceptanceTest', { params, body: { ...accept, id: 'accepted' } });
  const versions = { good_version_id: 'v1', bad_version_id: 'unused' };
  const difference = { type: 'relative' as const, value: 0.5 };
  const bisect = {
    name: 'Any name',
    input_ids: ['monday'],
    indicator: 'result.value',
    ...versions,
    difference,
  };
  await createStoppedBisect(server, application_id, bisect);
  return {
    createShadowTest: { ...shadow, id: 'another' },
    createSwitchbackTest: { ...switchback, id: 'another' },
    createBisectExperiment: { ...bisect, id: 'another' },
    planBisectExperiment: bisect,
    createInputSet: { name: 'Any name', run_ids: [run_id] },
    createInput: { run_id },
    createAcceptanceTest: accept,
  };
}

/** Creates a batch experiment and waits for its end. */
async function createCompletedExperiment(server: TestServer, application_id: string): Promise<void> {
  const params = { application_id };
  const group = { option_set: 'x_1', scenario_id: 's' };
  const runs = ['i1', 'latest'].flatMap((instance_id) =>
    Array.from({ length: 5 }, (_, repetition) => ({ instance_id, ...group, repetition })),
  );
  const body = {
    id: 'faster',
    name: 'Is it faster',
    input_set_id: 'peaks',
    option_sets: { x_1: { a: '1' } },
    runs,
  };
  await server.client.call('createBatchExperiment', {
    params,
    body: { ...body, objectives: { b: 'maximize' } },
  });
  await server.waitUntil('experiments-ended', async () => {
    const at = { params: { ...params, batch_id: 'faster' } };
    return (await server.client.call('getBatchExperimentMetadata', at)).body.status === 'completed';
  });
}

/** Creates a bisect experiment and stops it. */
async function createStoppedBisect(
  server: TestServer,
  application_id: string,
  bisect: object,
): Promise<void> {
  const path = `/v1/applications/${application_id}/experiments/bisect`;
  const { status, text } = await server.request('POST', path, { body: { ...bisect, id: 'dearer' } });
  if (status !== 201) throw new Error(text);
  await server.request('PUT', `${path}/dearer/stop`, { body: {} });
  await server.waitUntil('experiments-ended', async () => {
    const { body } = await server.request('GET', `${path}/dearer`);
    return (body as { status: string }).status !== 'started';
  });
}
