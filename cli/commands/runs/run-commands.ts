/** Commands for runs. */
import type { Command } from '@commander-js/extra-typings';
import { ApiError, type Client, type ResponseBody } from '@switchyard/contract/client.ts';
import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { describeSolve, findMainSolve } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import { explainFailure } from '@switchyard/contract/runs/presentation/explain-failure.ts';
import { listPhases, measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import { NO_SERIES } from '@switchyard/contract/runs/presentation/merge-series.ts';
import type { RunSolve } from '@switchyard/contract/runs/run-series.ts';
import { listFacts } from '@switchyard/contract/views/facts.ts';
import { EXECUTION_FACTS } from '@switchyard/contract/views/run-facts.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatFields } from '../../terminal/table.ts';
import { collectValue, parseWholeNumber } from '../parse-values.ts';
import { defineCommand, type Parent } from '../resource/define-command.ts';
import { defineRemove } from '../resource/define-resource.ts';
import { defineAssetCommands } from './asset-commands.ts';
import { compareRuns } from './compare-runs.ts';
import { defineRun } from './create-run.ts';
import type { RunParams } from './follow-run.ts';
import { defineRunList } from './list-runs.ts';
import { defineLogCommands } from './log-commands.ts';
import { printReplays, REPETITIONS_MAX, replayRun } from './replay-run.ts';
import { readLastLines, writeInput, writeOutput } from './run-content.ts';
import { chooseProgress, drawSeries, printSeries } from './run-series.ts';
import { defineTracking } from './track-run.ts';

/** Defines `run`, `runs` with its commands, `logs`, `cancel`, `compare`, `replay` and `assets`. */
export function defineRunCommands(program: Command, session: Session): void {
  defineRun(program, session);
  const runs = defineRunList(program, session);
  defineReaders(runs, session);
  defineChanges(runs, session);
  defineTracking(runs, session);
  defineLogCommands(program, session);
  defineActions(program, session);
  defineAssetCommands(program, session);
}

function locate(session: Session, run_id: string): RunParams {
  return { application_id: session.findApplication(), run_id };
}

function defineReaders(runs: Parent, session: Session): void {
  runs
    .command('get')
    .description(
      'Print a run with its options and indicators; for a queued run, why it waits and when it may start; for a failed one, the end of its log.',
    )
    .argument('<run>', 'The id of the run.')
    .option('--chart', 'Draw the objective over time.')
    .addHelpText('after', '\nExample:\n  switchyard runs get run-01jd3v7k9mq2z5x8 --chart')
    .action((run, { chart }) => printRun(session, locate(session, run), chart ?? false));
  runs
    .command('series')
    .description('Print the series of numbers of a run, from its log, its statistics and its processes.')
    .argument('<run>', 'The id of the run.')
    .option('--name <series>', 'Draw the series with this name.')
    .addHelpText('after', '\nExample:\n  switchyard runs series run-01jd3v7k9mq2z5x8 --name memory')
    .action((run, { name }) => printSeries(session, locate(session, run), name));
  runs
    .command('output')
    .description('Write the output of a run, byte for byte.')
    .argument('<run>', 'The id of the run.')
    .option('--output <file>', 'The file; otherwise standard output.', '-')
    .addHelpText('after', '\nExample:\n  switchyard runs output run-01jd3v7k9mq2z5x8 --output plan.json')
    .action((run, { output }) => writeOutput(session, locate(session, run), output));
  runs
    .command('input')
    .description('Write the input of a run, byte for byte.')
    .argument('<run>', 'The id of the run.')
    .option('--output <file>', 'The file; otherwise standard output.', '-')
    .addHelpText('after', '\nExample:\n  switchyard runs input run-01jd3v7k9mq2z5x8 --output input.json')
    .action((run, { output }) => writeInput(session, locate(session, run), output));
  runs
    .command('replays')
    .description('List the replays of a run, the newest first, and how each compares with it.')
    .argument('<run>', 'The id of the run.')
    .addHelpText('after', '\nExample:\n  switchyard runs replays run-01jd3v7k9mq2z5x8')
    .action((run) => printReplays(session, locate(session, run)));
  runs
    .command('flow')
    .description('Print the steps of a run that is a workflow, with their status and their runs.')
    .argument('<run>', 'The id of the run.')
    .addHelpText('after', '\nExample:\n  switchyard runs flow run-01jd3v7k9mq2z5x8')
    .action((run) => printFlow(session, locate(session, run)));
}

function defineChanges(runs: Parent, session: Session): void {
  defineCommand(runs, session, {
    name: 'update',
    operation: 'updateRun',
    text: 'Change the name and the description of a run, and the priority of a queued one.',
    arguments: { run_id: ['<run>', 'The id of the run.'] },
    options: {
      name: ['<name>', 'The new name.'],
      description: ['<text>', 'The new description.'],
      queuing_priority: [
        '<number>',
        `The new priority, from ${PRIORITY_MIN}, the first, to ${PRIORITY_MAX}.`,
        { flag: '--priority' },
      ],
    },
    isChange: true,
    example: 'run-01jd3v7k9mq2z5x8 --priority 1',
    done: ({ id }) => `Updated run ${id}.`,
  });
  runs
    .command('tag')
    .description(
      'Print the tags of a run, or change them. A retention policy never deletes a run with a tag.',
    )
    .argument('<run>', 'The id of the run.')
    .option('--add <tag>', 'Add this tag; repeat it for several.', collectValue)
    .option('--remove <tag>', 'Remove this tag; repeat it for several.', collectValue)
    .addHelpText('after', '\nExample:\n  switchyard runs tag run-01jd3v7k9mq2z5x8 --add "board meeting"')
    .action((run, changes) => changeTags(session, locate(session, run), changes));
  const settings = {
    operation: 'deleteRun',
    text: 'Delete runs with their inputs, outputs, assets and logs. A running app is stopped.',
    isMany: true,
    example: 'run-01jd3v7k9mq2z5x8 --yes',
  } as const;
  defineRemove(runs, session, settings, { noun: 'run' });
}

function defineActions(program: Command, session: Session): void {
  program
    .command('cancel')
    .description('Cancel runs. A running app has five seconds to print its output.')
    .argument('<run...>', 'The ids of the runs.')
    .addHelpText('after', '\nExample:\n  switchyard runs --status queued --quiet | xargs switchyard cancel')
    .action(async (ids) => {
      const application_id = session.findApplication();
      for (const run_id of ids)
        await session.connect().call('cancelRun', { params: { application_id, run_id } });
      session.output.printSentence({ canceled: ids }, `Canceled ${ids.map(cleanLine).join(', ')}.`, ids);
    });
  program
    .command('compare')
    .description(
      'Compare 2 to 10 runs. Prints the facts, options and indicators that differ, and the outputs of two runs.',
    )
    .argument('<run...>', 'The ids of the runs; the first is the baseline.')
    .option('--all', 'Print equal values too.')
    .addHelpText('after', '\nExample:\n  switchyard compare run-01jd3v7k9mq2z5x8 run-01jd3v9r2c6w8y4z')
    .action((ids, { all }) => compareRuns(session, session.findApplication(), { ids, all: all ?? false }));
  program
    .command('replay')
    .description(
      'Execute an ended run again, and compare the outputs. The exit code is 1 when they differ, in solution and objective.',
    )
    .argument('<run>', 'The id of the run.')
    .option('--name <name>', 'The name of the replay; otherwise that of the run.')
    .option('--description <text>', 'The description of the replay; otherwise that of the run.')
    .option(
      '--repetitions <number>',
      'The number of replays, each compared by itself.',
      parseWholeNumber(1, REPETITIONS_MAX),
      1,
    )
    .option('--plan', 'Print the runs and their time; create nothing.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard replay run-01jd3v7k9mq2z5x8\n  switchyard replay run-01jd3v7k9mq2z5x8 --repetitions 4 --plan',
    )
    .action((run, body) => replayRun(session, locate(session, run), body));
}

/** Adds and removes tags, and prints those that the run has then. */
async function changeTags(
  session: Session,
  params: RunParams,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<void> {
  const client = session.connect();
  let { body } = await client.call('getRunTags', { params });
  if (add.length > 0 || remove.length > 0) {
    const tags = [...body.tags, ...add].filter((tag) => !remove.includes(tag));
    ({ body } = await client.call('setRunTags', { params, body: { tags } }));
  }
  const lines = body.tags.map(cleanLine);
  session.output.print({
    json: body,
    text: () => (lines.length === 0 ? `Run ${params.run_id} has no tags.\n` : `${lines.join('\n')}\n`),
    quiet: () => lines,
  });
}

type RunDetails = ResponseBody<'getRunMetadata'>;

/** An execution of a step; without a status until it has begun. */
interface FlowRow {
  step: string;
  after: string;
  application?: string | null | undefined;
  status?: string;
  run_id?: string | null | undefined;
}

/** Prints a run; with `chart` also its objective over time. */
async function printRun(session: Session, params: RunParams, chart: boolean): Promise<void> {
  const client = session.connect();
  const [{ body }, { series, solves }] = await Promise.all([
    client.call('getRunMetadata', { params }),
    readSeries(client, params),
  ]);
  const hasLog = body.status_v2 === 'failed' && session.output.form === 'text';
  const lastLines = hasLog ? await readLastLines(client, params) : '';
  session.output.print({
    json: body,
    text: () =>
      [
        formatFields(listFields(body, solves)),
        formatSection('Options', listOptions(body)),
        formatSection('Indicators', listIndicators(body)),
        lastLines === '' ? '' : `End of the log\n${lastLines.replaceAll(/^/gm, '  ')}\n`,
        chart ? drawSeries(session, chooseProgress(series)) || 'The run has no series.\n' : '',
      ]
        .filter((part) => part !== '')
        .join('\n'),
    quiet: () => body.id,
  });
}

/** Returns the series and solves of a run; none for a caller who may not read the log. */
async function readSeries(client: Client, params: RunParams): Promise<ResponseBody<'getRunSeries'>> {
  try {
    return (await client.call('getRunSeries', { params })).body;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return NO_SERIES;
    throw error;
  }
}

function formatSection(title: string, fields: Record<string, string | number | boolean>): string {
  return Object.keys(fields).length === 0
    ? ''
    : `${title}\n${formatFields(fields).replaceAll(/^/gm, '  ').trimEnd()}\n`;
}

function listFields({ metadata, ...run }: RunDetails, solves: readonly RunSolve[]) {
  const solve = findMainSolve(solves);
  const { waiting, tracking } = metadata;
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + metadata.duration);
  const start = waiting?.predicted_start;
  return {
    run: run.id,
    name: run.name,
    description: run.description,
    status: run.status_v2,
    solver: solve && describeSolve(solve),
    solves: solves.length > 1 ? solves.length : undefined,
    error: run.error,
    'what to do': run.status_v2 === 'failed' ? listSteps(metadata) : undefined,
    waiting: waiting?.message,
    'queue position': waiting?.place,
    'predicted start': start && `between ${start.earliest} and ${start.latest}`,
    application: run.application_id,
    instance: run.application_instance_id,
    version: run.application_version_id || 'newest executable',
    'created by': run.user_email,
    created: run.created_at,
    started: metadata.initiated_at,
    ended: metadata.finished_at,
    'run time': ran === null ? undefined : formatDuration(ran),
    waited: waited === null ? undefined : formatDuration(waited),
    'lost attempts': describeLostAttempts(metadata),
    ...Object.fromEntries(
      listFacts(EXECUTION_FACTS, { ...run, metadata }).map(([label, text]) => [label.toLowerCase(), text]),
    ),
    'managed input': tracking?.input_id,
    'execution class': run.execution_class,
    experiment: metadata.experiment_id && `${metadata.experiment_id} (${metadata.experiment_type})`,
    'parent run': run.parent_run_id,
    'repeats run': tracking?.cloned_run_id,
    'statistics error': run.statistics.error,
    'assets error': metadata.assets_error,
  };
}

function listSteps(run: RunDetails['metadata']): string {
  const { duration_ms: duration_limit, memory_bytes: memory_limit } = run.limits ?? {};
  const { steps } = explainFailure({ ...run, duration_limit, memory_limit });
  return steps.map(({ title, text }) => `${title}. ${text}`).join(' ');
}

/** Returns the durations of the attempts that were cut short, such as `4 min 14 s and 12 s`. */
function describeLostAttempts(metadata: RunDetails['metadata']): string | undefined {
  const lost = listPhases(metadata, Date.parse(metadata.created_at) + metadata.duration).filter(
    ({ kind }) => kind === 'lost',
  );
  return lost.length === 0 ? undefined : lost.map(({ duration }) => formatDuration(duration)).join(' and ');
}

function listOptions({ metadata }: RunDetails): Record<string, string> {
  return Object.fromEntries(
    metadata.options.options_summary.map(({ name, value, source }) => [
      cleanLine(name),
      source === 'run' ? value : `${value} (from the ${source})`,
    ]),
  );
}

function listIndicators({ statistics }: RunDetails): Record<string, string | number | boolean> {
  return Object.fromEntries(statistics.indicators.map(({ name, value }) => [cleanLine(name), value]));
}

/** Prints the nodes of a workflow that a run has sent, in the order of their steps. */
async function printFlow(session: Session, params: RunParams): Promise<void> {
  const { body } = await session.connect().call('getRunFlow', { params });
  const { steps, nodes } = body.pipeline_graph;
  const rows = steps.flatMap(({ id, predecessors, app_id }) => {
    const own = nodes.filter(({ parent_id }) => parent_id === id);
    const step = { step: id, after: predecessors.join(', '), application: app_id };
    return own.length === 0 ? [step] : own.map(({ status, run_id }) => ({ ...step, status, run_id }));
  });
  session.output.printTable<FlowRow>(
    rows,
    { STEP: 'step', STATUS: 'status', APPLICATION: 'application', RUN: 'run_id', AFTER: 'after' },
    { json: body, empty: 'The workflow has no steps yet.', id: ({ run_id, step }) => run_id ?? step },
  );
}
