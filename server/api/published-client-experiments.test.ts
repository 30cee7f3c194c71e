/** The published Python client and what experiments are made of, by the client's own models, as in published-client.test.ts. */
import { describe, expect, test, vi } from 'vitest';
import { drivenClient } from '../testing/driven-client.ts';
import { publishedClient } from '../testing/published-client.ts';

// A part starts an interpreter and several apps.
vi.setConfig({ testTimeout: 120_000 });

const client = await publishedClient();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

// What is missing is said once, by published-client.test.ts.
describe.skipIf(typeof client === 'string')('the published client', () => {
  const { drive } = drivenClient(client);

  test('makes, finds, changes and deletes managed inputs', async () => {
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
    // The specification answers 204 to the change: it is made, and the client then looks for an input in no body.
    expect(seen.updated).toBe('JSONDecodeError');
    const left = ['from-run', 'text', id, 'l'.repeat(64), 'a', generated];
    expect(seen).toMatchObject({ listed: [...left, 'monday'], unpaged: [...left, 'monday'], left });
  });
});
