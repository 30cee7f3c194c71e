/** Tools for runs: their list, one run, its log, waiting for its end, and comparing several. */
import { setTimeout as wait } from 'node:timers/promises';
import { USUAL_OBJECTIVE } from '@switchyard/contract/applications/usual-objective.ts';
import type { CallRequest, Client, ResponseBody } from '@switchyard/contract/client.ts';
import { type Operations, operations } from '@switchyard/contract/operations.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { type AgentTool, readText, type ToolArguments, textArgument } from './agent-tool.ts';
import type { Answer } from './answers.ts';
import type { JsonSchema } from './json-schema.ts';
import { buildInputSchema, splitArguments } from './tools.ts';

type Run = ResponseBody<'getRunMetadata'>;

const WAIT_SECONDS_DEFAULT = 45;
const WAIT_SECONDS_MAX = 600;
const POLL_MS = 1000;
const COMPARED_RUNS_MAX = 10;
/** Indicators of a run in an answer. */
const INDICATORS_MAX = 60;

const application_id = textArgument('Id of the application.');
const run_id = textArgument('Id of the run.');
const READS = { right: 'read', isReadOnly: true, isDestructive: false } as const;

function defineSchema(properties: Record<string, JsonSchema>, required: string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

export const RUN_TOOLS: readonly AgentTool[] = [
  {
    name: 'list_runs',
    description:
      'Lists runs of an application, filtered and sorted, each with its status and its objective value. get_run has the rest of a run.',
    inputSchema: buildInputSchema(operations.listRuns, ['format']),
    ...READS,
    run: listRuns,
  },
  {
    name: 'get_run',
    description:
      'Returns status, error, options, indicators, times and the reason for waiting of a run. get_run_output has its solution, and get_run_logs its log.',
    inputSchema: defineSchema({ application_id, run_id }, ['application_id', 'run_id']),
    ...READS,
    run: async (client, args) => ({ data: summarizeRun(await readRun(client, args)) }),
  },
  {
    name: 'get_run_logs',
    description: 'Returns the log of a run, also while it runs. Of a long log it shows the end.',
    inputSchema: defineSchema({ application_id, run_id }, ['application_id', 'run_id']),
    ...READS,
    run: getLogs,
  },
  {
    name: 'wait_for_run',
    description: `Waits until a run has ended, and returns it as get_run does. After timeout_seconds it returns the run as it is, with "timed_out": true; call it again. Many clients give up after 60 seconds, so the default is ${WAIT_SECONDS_DEFAULT}.`,
    inputSchema: defineSchema(
      {
        application_id,
        run_id,
        timeout_seconds: {
          type: 'number',
          minimum: 0,
          maximum: WAIT_SECONDS_MAX,
          default: WAIT_SECONDS_DEFAULT,
        },
      },
      ['application_id', 'run_id'],
    ),
    ...READS,
    run: waitForRun,
  },
  {
    name: 'compare_runs',
    description: `Returns what differs between 2 to ${COMPARED_RUNS_MAX} runs of an application: status, version, instance, duration, options and indicators, each with one value for each run in the order of run_ids. A value that a run does not have is null.`,
    inputSchema: defineSchema(
      {
        application_id,
        run_ids: {
          type: 'array',
          items: { type: 'string' },
          minItems: 2,
          maxItems: COMPARED_RUNS_MAX,
          description: 'Ids of the runs.',
        },
      },
      ['application_id', 'run_ids'],
    ),
    ...READS,
    run: compareRuns,
  },
];

async function listRuns(client: Client, args: ToolArguments, signal: AbortSignal): Promise<Answer> {
  const request = { ...splitArguments(operations.listRuns, args), signal };
  const { body } = await client.call('listRuns', request as CallRequest<Operations['listRuns']>);
  const runs = body.runs.map((run) => ({
    ...{ id: run.id, name: run.name || undefined, status_v2: run.status_v2, created_at: run.created_at },
    ...{ instance_id: run.application_instance_id, version_id: run.application_version_id || undefined },
    objective: run.statistics.indicators.find(({ name }) => name === USUAL_OBJECTIVE)?.value,
    execution_duration: run.execution_duration,
    experiment_id: run.experiment_id,
  }));
  return { data: { runs, next_page_token: body.next_page_token } };
}

async function readRun(client: Client, args: ToolArguments, signal?: AbortSignal): Promise<Run> {
  const params = {
    application_id: readText(args, 'application_id'),
    run_id: readText(args, 'run_id') as RunId,
  };
  return (await client.call('getRunMetadata', { params, ...(signal && { signal }) })).body;
}

/** Returns what an agent decides by. Blocks of the app, which may have a megabyte, are in its output. */
function summarizeRun(run: Run): Record<string, unknown> {
  const { metadata, statistics } = run;
  const { indicators } = statistics;
  return {
    ...{ id: run.id, status_v2: run.status_v2, error: run.error || undefined, name: run.name || undefined },
    ...{ instance_id: run.application_instance_id, version_id: run.application_version_id || undefined },
    waiting: metadata.waiting,
    ...{ created_at: run.created_at, initiated_at: metadata.initiated_at, finished_at: metadata.finished_at },
    ...{ execution_duration: run.execution_duration, attempt: metadata.attempt },
    ...{ execution_class: run.execution_class, limits: metadata.limits },
    ...{ input_size: run.input_size, output_size: run.output_size, format: metadata.format },
    ...{ experiment_id: metadata.experiment_id, experiment_type: metadata.experiment_type },
    ...{ previous_run_id: metadata.previous_run_id, tracking: metadata.tracking },
    options: metadata.options.active_options,
    statistics_error: statistics.error || undefined,
    indicators: Object.fromEntries(
      indicators.slice(0, INDICATORS_MAX).map(({ name, value }) => [name, value]),
    ),
    indicators_left_out: indicators.length > INDICATORS_MAX ? indicators.length - INDICATORS_MAX : undefined,
  };
}

async function getLogs(client: Client, args: ToolArguments, signal: AbortSignal): Promise<Answer> {
  const run = await readRun(client, args, signal);
  const params = { application_id: run.application_id, run_id: run.id };
  if (isTerminal(run.status_v2)) {
    const { body } = await client.call('getRunLogs', { params, signal });
    return { data: body.log, showsEnd: true };
  }
  const { body } = await client.call('getRunLiveLogs', { params, signal });
  return { data: body.items.map(({ log }) => log).join('\n'), showsEnd: true };
}

async function waitForRun(client: Client, args: ToolArguments, signal: AbortSignal): Promise<Answer> {
  const { timeout_seconds: seconds = WAIT_SECONDS_DEFAULT } = args;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= WAIT_SECONDS_MAX))
    throw new Error(`timeout_seconds must be a number from 0 to ${WAIT_SECONDS_MAX}.`);
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const run = await readRun(client, args, signal);
    const hasEnded = isTerminal(run.status_v2);
    if (hasEnded || performance.now() + POLL_MS > deadline)
      return { data: { ...summarizeRun(run), timed_out: !hasEnded } };
    await wait(POLL_MS, undefined, { signal });
  }
}

async function compareRuns(client: Client, args: ToolArguments, signal: AbortSignal): Promise<Answer> {
  const application = readText(args, 'application_id');
  const { run_ids: ids } = args;
  const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (!isList || ids.length < 2 || ids.length > COMPARED_RUNS_MAX)
    throw new Error(`run_ids must be a list of 2 to ${COMPARED_RUNS_MAX} ids.`);
  const runs = await Promise.all(
    ids.map((id: string) => readRun(client, { application_id: application, run_id: id }, signal)),
  );
  return {
    data: {
      run_ids: ids,
      fields: listDifferences(runs.map(readFields)),
      options: listDifferences(runs.map(readOptions)),
      indicators: listDifferences(runs.map(readIndicators)),
    },
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
