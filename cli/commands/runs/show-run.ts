/** All details of a run, for people. */

import type { ResponseBody } from '@switchyard/contract/client.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { listPhases, measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import { listFacts } from '@switchyard/contract/views/facts.ts';
import { EXECUTION_FACTS } from '@switchyard/contract/views/run-facts.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatFields } from '../../terminal/table.ts';
import type { RunParams } from './follow-run.ts';
import { chooseProgress, drawSeries } from './run-series.ts';

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
export async function printRun(session: Session, params: RunParams, chart: boolean): Promise<void> {
  const client = session.connect();
  const { body } = await client.call('getRunMetadata', { params });
  const series = chart ? (await client.call('getRunSeries', { params })).body.series : [];
  session.output.print({
    json: body,
    text: () =>
      [
        formatFields(listFields(body)),
        formatSection('Options', listOptions(body)),
        formatSection('Indicators', listIndicators(body)),
        chart ? drawSeries(session, chooseProgress(series)) || 'The run has no series.\n' : '',
      ]
        .filter((part) => part !== '')
        .join('\n'),
    quiet: () => body.id,
  });
}

function formatSection(title: string, fields: Record<string, string | number | boolean>): string {
  return Object.keys(fields).length === 0
    ? ''
    : `${title}\n${formatFields(fields).replaceAll(/^/gm, '  ').trimEnd()}\n`;
}

function listFields({ metadata, ...run }: RunDetails) {
  const { waiting, tracking } = metadata;
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + metadata.duration);
  const start = waiting?.predicted_start;
  return {
    run: run.id,
    name: run.name,
    description: run.description,
    status: run.status_v2,
    error: run.error,
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
export async function printFlow(session: Session, params: RunParams): Promise<void> {
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
