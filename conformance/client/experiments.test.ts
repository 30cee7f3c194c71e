/**
 * The published Python client and the inputs of experiments, as seen by the client's own models; see client.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

// client.test.ts reports a missing client once.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { runPart: drive } = startClientDriver(client);

  test('creates, finds, updates and deletes managed inputs', async () => {
    const seen = await drive('managed_inputs');
    const json = { format_input: { input_type: 'json' }, format_output: { output_type: 'json' } };
    const made = {
      id: 'monday',
      name: 'Monday',
      description: 'Its peak.',
      run_id: null,
      upload_id: seen.upload,
      format: json,
      created_at: TIME,
      updated_at: TIME,
    };
    const generated = (seen.generated as { id: string }).id;
    const [scenario, name, id] = seen.scenario as [object, string, string];
    expect(scenario).toEqual({ ...made, id, name, description: expect.stringContaining(id) });
    expect(seen).toMatchObject({
      made,
      got: made,
      generated: { ...made, id: generated, name: generated, description: '' },
      short: 'a',
      long: 'l'.repeat(64),
      text: { format: { format_input: { input_type: 'text' } } },
      // The client names JSON for every input; one from a run has the format of the run.
      from_run: { run_id: seen.run, upload_id: null, format: { format_input: { input_type: 'text' } } },
      after_update: { ...made, name: 'Renamed input', description: 'New words.' },
      get_after_delete: 404,
    });
    // By the specification an update returns 204. The client then fails to parse the missing body, although the update
    // took effect.
    expect(seen.updated).toBe('JSONDecodeError');
    const left = ['from-run', 'text', id, 'l'.repeat(64), 'a', generated];
    expect(seen).toMatchObject({ listed: [...left, 'monday'], unpaged: [...left, 'monday'], left });
  });

  test('creates input sets in its three ways, finds, updates and deletes them', async () => {
    const seen = await drive('input_sets');
    const [first = '', second = '', third = ''] = seen.runs as string[];
    const json = { format_input: { input_type: 'json' }, format_output: { output_type: 'json' } };
    const dates = { created_at: TIME, updated_at: TIME };
    const ofRun = (id: string) => ({
      id,
      name: '',
      description: '',
      run_id: id,
      upload_id: null,
      format: json,
      created_at: null,
      updated_at: null,
    });
    const managed = (id: string) => ({
      ...ofRun(id),
      name: `Input ${id}`,
      description: 'Told.',
      run_id: null,
    });
    const set = { app_id: 'py-sets', description: '', ...dates };
    const named = { ...set, id: 'of-runs', name: 'Of runs', description: 'Two.' };
    const ofRuns = { ...named, input_ids: [first, second], inputs: [ofRun(first), ofRun(second)] };
    const generated = (seen.generated as { id: string }).id;
    const [scenario, name, id] = seen.scenario as [object, string, string];
    const ofInputs = {
      ...set,
      id: 'of-inputs',
      name: 'of-inputs',
      input_ids: ['two', 'one'],
      inputs: [managed('two'), managed('one')],
    };
    const replaced = { input_ids: ['one'], inputs: [managed('one')] };
    const renamed = { ...ofRuns, name: 'Renamed set', description: 'New words.' };
    expect(seen).toMatchObject({
      of_runs: ofRuns,
      of_instance: { ...set, id: 'of-instance', name: 'of-instance', input_ids: [third, second] },
      generated: { ...set, name: generated, input_ids: [third, second, first] },
      of_inputs: ofInputs,
      renamed,
      // One of its managed inputs is deleted by then.
      kept: { ...ofInputs, description: 'As it was.' },
      replaced: { ...renamed, ...replaced },
      got: { ...renamed, ...replaced },
      mixed: 400,
      get_after_delete: 404,
    });
    const words = expect.stringContaining(id);
    expect(scenario).toEqual({ ...set, id, name, description: words, ...replaced });
    const left = [id, 'of-inputs', generated];
    const all = [...left, 'of-instance', 'of-runs'];
    expect(seen).toMatchObject({ listed: all, unpaged: all, left: [...left, 'of-runs'] });
  });
});
