/** Tools that combine several requests: waiting for a run, and comparing runs. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Client, ResponseBody } from '@switchyard/contract/client.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { JsonSchema } from './json-schema.ts';

type Run = ResponseBody<'getRunMetadata'>;

/** A tool that combines operations of the API. */
export interface RunTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  run(client: Client, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
}

const WAIT_SECONDS_DEFAULT = 45;
const WAIT_SECONDS_MAX = 600;
const POLL_MS = 1000;
const COMPARED_RUNS_MAX = 10;

const application_id = { type: 'string', description: 'Id of the application.' };

export const RUN_TOOLS: readonly RunTool[] = [
  {
    name: 'wait_for_run',
    description: `Waits until a run has ended, and returns its metadata. After timeout_seconds it returns the run as it is, with "timed_out": true; call it again. Many clients give up after 60 seconds, so the default is ${WAIT_SECONDS_DEFAULT}.`,
    inputSchema: {
      type: 'object',
      properties: {
        application_id,
        run_id: { type: 'string', description: 'Id of the run.' },
        timeout_seconds: {
          type: 'number',
          minimum: 0,
          maximum: WAIT_SECONDS_MAX,
          default: WAIT_SECONDS_DEFAULT,
        },
      },
      required: ['application_id', 'run_id'],
      additionalProperties: false,
    },
    run: waitForRun,
  },
  {
    name: 'compare_runs',
    description: `Returns what differs between 2 to ${COMPARED_RUNS_MAX} runs of an application: status, version, instance, duration, options and indicators, each with one value for each run in the order of run_ids. A value that a run does not have is null.`,
    inputSchema: {
      type: 'object',
      properties: {
        application_id,
        run_ids: {
          type: 'array',
          items: { type: 'string' },
          minItems: 2,
          maxItems: COMPARED_RUNS_MAX,
          description: 'Ids of the runs.',
        },
      },
      required: ['application_id', 'run_ids'],
      additionalProperties: false,
    },
    run: compareRuns,
  },
];

function readText(args: Readonly<Record<string, unknown>>, name: string): string {
  const value = args[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`${name} must be a text.`);
}

async function waitForRun(
  client: Client,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> {
  const params = { application_id: readText(args, 'application_id'), run_id: readText(args, 'run_id') };
  const { timeout_seconds: seconds = WAIT_SECONDS_DEFAULT } = args;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= WAIT_SECONDS_MAX))
    throw new Error(`timeout_seconds must be a number from 0 to ${WAIT_SECONDS_MAX}.`);
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const { body } = await client.call('getRunMetadata', { params, signal });
    const hasEnded = isTerminal(body.status_v2);
    if (hasEnded || performance.now() + POLL_MS > deadline) return { ...body, timed_out: !hasEnded };
    await wait(POLL_MS, undefined, { signal });
  }
}

async function compareRuns(
  client: Client,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> {
  const application = readText(args, 'application_id');
  const { run_ids: ids } = args;
  const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (!isList || ids.length < 2 || ids.length > COMPARED_RUNS_MAX)
    throw new Error(`run_ids must be a list of 2 to ${COMPARED_RUNS_MAX} ids.`);
  const runs = await Promise.all(
    ids.map(async (run_id: string) => {
      const params = { application_id: application, run_id };
      return (await client.call('getRunMetadata', { params, signal })).body;
    }),
  );
  return {
    run_ids: ids,
    fields: listDifferences(runs.map(readFields)),
    options: listDifferences(runs.map(readOptions)),
    indicators: listDifferences(runs.map(readIndicators)),
  };
}

function readFields(run: Run): Record<string, unknown> {
  const { status_v2, application_version_id, application_instance_id, execution_class, runtime } = run;
  const { execution_duration, input_size, output_size, error } = run;
  return {
    ...{ status_v2, application_version_id, application_instance_id, execution_class, runtime },
    ...{ execution_duration, input_size, output_size, error },
  };
}

function readOptions({ metadata }: Run): Record<string, unknown> {
  return { ...metadata.options.active_options };
}

function readIndicators({ statistics }: Run): Record<string, unknown> {
  return Object.fromEntries(statistics.indicators.map(({ name, value }) => [name, value]));
}

/** Returns the names whose values differ, each with the value of every row: null for a row without it. */
function listDifferences(rows: readonly Record<string, unknown>[]): Record<string, unknown[]> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort();
  const columns = names.map((name): [string, unknown[]] => [name, rows.map((row) => row[name] ?? null)]);
  return Object.fromEntries(columns.filter(([, values]) => new Set(values).size > 1));
}
