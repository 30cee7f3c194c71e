/**
 * The published Python client against this server. Every expectation is a value in the client's own models after it has
 * parsed the responses, as a user of the client sees it. The tests in `coverage` call its command line.
 */
import { describe, expect, test } from 'vitest';
import { DRIVER_PATH, startClientDriver } from './client-driver.ts';
import { openPublishedClient } from './published-client.ts';

const client = await openPublishedClient();
const clientMissing = typeof client === 'string';
if (clientMissing) {
  process.stderr.write(
    `\nSKIPPED: the published Python client did not run against the server. ${client}\n\n`,
  );
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const EXECUTABLE = {
  id: expect.any(String),
  user_email: expect.any(String),
  uploaded_at: TIME,
  requirements: { executable_type: 'python', runtime: 'ghcr.io/nextmv-io/runtime/python:3.11' },
};

describe.skipIf(clientMissing)('the published client', () => {
  const driven = startClientDriver(client);
  const { runPart: drive } = driven;

  test('creates, finds, updates and deletes applications', async () => {
    const seen = await drive('applications');
    const made = {
      id: 'py-app',
      name: "Client's app",
      description: 'Made by the client.',
      type: 'custom',
      locked: false,
      created_at: TIME,
      updated_at: TIME,
    };
    const updated = {
      ...made,
      name: 'Renamed app',
      description: 'New words.',
      default_instance_id: 'latest',
    };
    expect(seen).toMatchObject({ made, updated, got: updated, again: made.name });
    expect(seen.generated_name).toBe(seen.generated);
    expect(seen).toMatchObject({
      listed: [seen.generated, 'py-app'],
      unpaged: [seen.generated, 'py-app'],
      existed: [true, false],
      exists_after_delete: false,
      get_after_delete: 404,
    });
  });

  test('pushes an app folder and creates versions of it', async () => {
    const seen = await drive('versions');
    const made = {
      id: 'v1',
      application_id: 'py-versions',
      name: 'First version',
      description: 'The first one.',
      executable: EXECUTABLE,
      created_at: TIME,
      updated_at: TIME,
    };
    const updated = { ...made, name: 'Renamed version', description: 'New words.' };
    const generated = (seen.generated as { id: string }).id;
    expect(seen).toEqual({
      made,
      updated,
      got: updated,
      again: made.name,
      generated: { ...made, id: generated, name: generated, description: '' },
      listed: [generated, 'v1'],
      unpaged: [generated, 'v1'],
      existed: [true, false],
      exists_after_delete: false,
    });
  });

  test('creates instances, updates them and runs the default one', async () => {
    const seen = await drive('instances');
    const configuration = {
      execution_class: '6c9500mb870s',
      options: { factor: '3' },
      queuing: { priority: 2, disabled: false },
    };
    const made = {
      id: 'prod',
      application_id: 'py-instances',
      version_id: 'v1',
      name: 'Production',
      description: 'Plans the tours.',
      configuration,
      locked: false,
      created_at: TIME,
      updated_at: TIME,
    };
    const updated = {
      ...made,
      name: 'Renamed instance',
      version_id: 'v2',
      configuration: { options: { factor: '5' } },
    };
    const bare = (seen.bare as { id: string }).id;
    expect(seen).toMatchObject({
      made,
      updated,
      got: updated,
      again: made.name,
      bare: {
        version_id: 'v1',
        name: bare,
        configuration: { execution_class: '6c9500mb870s', options: {}, queuing: { priority: 6 } },
      },
      latest: { id: 'latest', version_id: '', application_id: 'py-instances' },
      locks: [true, false],
      refused: 400,
      listed: [bare, 'prod'],
      unpaged: [bare, 'prod'],
      existed: [true, false],
      exists_after_delete: false,
    });
    expect(seen.on_default).toMatchObject({
      metadata: { application_instance_id: 'prod', application_version_id: 'v2', status_v2: 'succeeded' },
      output: { options: { factor: 5, note: 'none' }, solution: { numbers: [5, 10] } },
    });
  });

  test('runs an input with options and reads all results of a run', async () => {
    const seen = await drive('runs');
    const statistics = { schema: 'v1', result: { value: 60, custom: { count: 3 } } };
    const output = {
      options: { factor: 10, note: 'two words' },
      solution: { numbers: [10, 20, 30], padding: '' },
      statistics,
    };
    const options = { factor: '10', note: 'two words' };
    const information = {
      id: seen.run,
      name: 'Monday',
      description: 'The plan of Monday.',
      user_email: expect.any(String),
      metadata: {
        application_id: 'py-runs',
        application_instance_id: 'latest',
        application_version_id: '',
        created_at: TIME,
        initiated_at: TIME,
        duration: expect.any(Number),
        execution_duration: expect.any(Number),
        error: '',
        execution_class: '6c9500mb870s',
        format: { format_input: { input_type: 'json' }, format_output: { output_type: 'json' } },
        input_size: JSON.stringify({ numbers: [1, 2, 3] }).length,
        options: {
          active_options: options,
          options_summary: [
            { name: 'factor', source: 'run', value: '10' },
            { name: 'note', source: 'run', value: 'two words' },
          ],
          request_options: options,
        },
        queuing_disabled: false,
        queuing_priority: 3,
        run_type: { run_type: 'standard', definition_id: null, reference_id: null },
        runtime: 'ghcr.io/nextmv-io/runtime/python:3.11',
        status_v2: 'succeeded',
        statistics,
      },
    };
    expect(seen).toMatchObject({
      result: { ...information, output, error_log: null },
      information,
      metadata: information,
      output: { output },
      input: { numbers: [1, 2, 3] },
      logs: 'multiplier has 3 numbers\n',
      live: ['multiplier has 3 numbers'],
      older: { output: { solution: { numbers: [8] } } },
      refused_option: 400,
      missing: 404,
    });
    expect(seen.failed).toMatchObject({
      metadata: { status_v2: 'failed', error: expect.stringContaining('exit code 1'), output_size: 0 },
      output: null,
      error_log: { stdout: '', stderr: 'multiplier has 0 numbers\nthere is no plan\n' },
    });
  });

  test('transfers texts, large contents, uploads and folders of files', async () => {
    const seen = await drive('contents');
    expect(seen).toMatchObject({
      text: {
        metadata: {
          format: { format_input: { input_type: 'text' }, format_output: { output_type: 'json' } },
        },
        output: { solution: { numbers: [2, 4, 78] } },
      },
      text_input: '1 2\n39',
      large_size: JSON.stringify({ numbers: [1], note: '' }).length + 5 * 1024 * 1024,
      large_output: [2],
      large_input_same: true,
      padded_output: 6 * 1024 * 1024,
      uploaded: [42],
      multi: {
        metadata: {
          status_v2: 'succeeded',
          format: {
            format_input: { input_type: 'multi-file' },
            format_output: { output_type: 'multi-file' },
          },
          statistics: { schema: 'v1', result: { value: 7 } },
        },
      },
      solutions: { 'more/a.txt': 'ALPHA', 'more/b.txt': 'BÉTA' },
      inputs: { 'a.txt': 'alpha', 'b.txt': 'béta' },
      logs: 'all files are written\n',
    });
    expect(seen.padded_size).toBeGreaterThan(6 * 1024 * 1024);
  });

  test('W8: shows runs of every format with every final status, and why one failed', async () => {
    const seen = await drive('endings');
    const files = { 'out.csv': 'c,d' };
    const none = { output: null, files: {} };
    const failed = { ...none, status: 'failed', stderr: 'there is no plan\n' };
    const canceled = { ...none, status: 'canceled' };
    const succeeded = { status: 'succeeded', stderr: null };
    expect(seen).toMatchObject({
      'json succeeds': { ...succeeded, output: { solution: {} }, files: {} },
      'json omits': { ...succeeded, ...none },
      'json fails': failed,
      'json waits': canceled,
      ...Object.fromEntries(
        ['multi-file', 'csv-archive'].flatMap((format) => [
          [`${format} succeeds`, { ...succeeded, files }],
          [`${format} omits`, { ...succeeded, ...none }],
          [`${format} fails`, failed],
          [`${format} waits`, canceled],
        ]),
      ),
    });
  });

  test('cancels, lists, compares, clones and deletes runs', async () => {
    const seen = await drive('changes');
    const [ended, other, waiting] = seen.ids as [string, string, string];
    expect(seen).toMatchObject({
      queue: {
        runs: [
          {
            id: waiting,
            status_v2: expect.stringMatching(/^(queued|running)$/),
            application_id: 'py-changes',
            execution_class: '6c9500mb870s',
            created_at: TIME,
          },
        ],
      },
      canceled: { id: waiting, metadata: { status_v2: 'canceled' }, output: null },
      after_cancel: { metadata: { status_v2: 'succeeded', metrics: { total: 4, count: 1 } } },
      unpaged: [waiting, other, ended],
      succeeded: [other, ended],
      after_delete: 404,
      left: [(seen.cloned as { id: string }).id, waiting, ended],
    });
    expect(seen.cloned).toMatchObject({
      name: `${ended} clone`,
      description: `Clone of ${ended}`,
      metadata: { status_v2: 'succeeded', options: { request_options: { factor: '5' } } },
      output: { solution: { numbers: [5] } },
    });
    const listed = {
      application_id: 'py-changes',
      application_instance_id: 'latest',
      application_version_id: '',
      execution_class: '6c9500mb870s',
      runtime: 'ghcr.io/nextmv-io/runtime/python:3.11',
      created_at: TIME,
      run_type: { run_type: 'standard', definition_id: null, reference_id: null },
    };
    expect(seen.listed).toMatchObject([
      { ...listed, id: waiting, status_v2: 'canceled' },
      { ...listed, id: other, status_v2: 'succeeded', options: { factor: '6', note: 'none' } },
      { ...listed, id: ended, status_v2: 'succeeded', options: { factor: '4', note: 'none' } },
    ]);
    expect(seen.compared).toMatchObject({
      run_ids: [ended, other],
      metrics: {
        total: { has_differences: true, values: { [ended]: 4, [other]: 12 } },
        count: { has_differences: false, values: { [ended]: 1, [other]: 1 } },
      },
      options: {
        factor: { has_differences: true, values: { [ended]: '4', [other]: '6' } },
        note: { has_differences: false },
      },
    });
  });

  test('reads a list over several pages', async () => {
    const seen = await drive('pages');
    expect(seen.made).toHaveLength(55);
    expect(seen.listed).toEqual((seen.made as string[]).toReversed());
  });

  test('uses a format that the caller names', async () => {
    expect(await drive('formats')).toMatchObject({
      result: {
        metadata: { format: { format_input: { input_type: 'text' } }, status_v2: 'succeeded' },
        output: { solution: { numbers: [10, 12] } },
      },
    });
  });

  test('an unknown key is refused with 401', async () => {
    await expect(driven.session.runDriver(DRIVER_PATH, 'pages', 'no-such-key')).rejects.toThrow(
      /failed with status code 401 and message: \{"message":/,
    );
  });
});
