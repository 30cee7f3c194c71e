/** Formats runs for the API: in lists, and in full with the nested metadata that the published clients read. */

import { markExactNumbers } from '@switchyard/contract/exact-json.ts';
import { servesCallers } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { Asset } from '@switchyard/contract/runs/assets.ts';
import type { OptionSummary, Run, RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { objectSchema } from '@switchyard/contract/schemas/field-schemas.ts';
import { isTerminal, toStatusV1 } from '@switchyard/contract/states.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { parseRequirements } from '../queue/run-requirements.ts';
import {
  parseApiAccess,
  parseExactIndicators,
  parseLabels,
  parseLimits,
  parseMetrics,
  parseOptionsSummary,
  parseRequestOptions,
  parseStartConditions,
  parseStatistics,
  parseWorkflowName,
} from '../run-columns.ts';
import { parseLostAttempts } from '../store/leases.ts';
import type { ListedRun } from '../store/runs.ts';
import type { AssetsTable, RunsTable } from '../store/schema.ts';

const parseVisual = parseColumn('assets', 'id', 'visual', objectSchema('The visualization of an asset.'));

/** The options that the caller may see. */
interface VisibleOptions {
  summary: OptionSummary[];
  active: Record<string, string>;
  requested: Record<string, string>;
}

function formatOptions(run: ListedRun, hidden: ReadonlySet<string>): VisibleOptions {
  const summary = parseOptionsSummary(run).filter(({ name }) => !hidden.has(name));
  const requested = Object.entries(parseRequestOptions(run)).filter(([name]) => !hidden.has(name));
  return {
    summary,
    active: Object.fromEntries(summary.map(({ name, value }) => [name, value])),
    requested: Object.fromEntries(requested),
  };
}

/** Formats the common fields of lists, runs and webhook events: without options, which may be hidden from a reader. */
export function runSummaryBody(run: ListedRun) {
  return {
    id: run.id,
    user_email: run.user_email,
    name: run.name,
    description: run.description,
    status: toStatusV1(run.status),
    status_v2: run.status,
    created_at: formatRfc3339(run.created_at),
    application_id: run.application_id,
    application_instance_id: run.instance_id,
    application_version_id: run.version_id,
    run_type: {
      type: run.run_type,
      definition_id: run.definition_id,
      reference_id: run.reference_id ?? run.parent_run_id,
    },
    ...formatExperiment(run),
    ...formatWorkflow(run),
    execution_class: run.execution_class,
    runtime: run.runtime,
    queuing_priority: run.priority,
    queuing_disabled: run.queuing_disabled === 1,
    ...formatReports(run),
  };
}

/** Formats the statistics and metrics; `metrics` is absent when the run reported none. */
function formatReports(run: ListedRun): Pick<Run, 'statistics' | 'metrics'> {
  const indicators = parseExactIndicators(run);
  const { statistics_status: status, statistics_error, metrics_error } = run;
  const statistics = { status, error: statistics_error, indicators };
  if (metrics_error === null) return { statistics };
  return {
    statistics,
    metrics: {
      status: metrics_error === '' ? 'success' : 'error',
      error: metrics_error,
      indicators: indicators.filter(({ source }) => source === 'metrics'),
    },
  };
}

function formatExperiment({ experiment_id, experiment_type, plan_unit_index }: ListedRun) {
  if (experiment_id === null || experiment_type === null) return {};
  return { experiment_id, experiment_type, ...(plan_unit_index === null ? {} : { plan_unit_index }) };
}

/** Formats the run whose app created the run. */
function formatWorkflow(run: Pick<ListedRun, 'id' | 'parent_run_id' | 'workflow'>) {
  const workflow = parseWorkflowName(run);
  if (workflow === null || run.parent_run_id === null) return {};
  return {
    parent_run_id: run.parent_run_id,
    parent_application_id: workflow.application_id,
    workflow_name: workflow.name,
  };
}

/** Formats what the run requires of its worker and of the licences of its account. */
function formatRequirements(run: RunsTable) {
  return run.required_labels === null && run.required_licenses === null
    ? {}
    : { requirements: parseRequirements(run) };
}

/** Formats the attempts that were cut short, if there are any. */
function formatLostAttempts(run: ListedRun) {
  const lost = parseLostAttempts(run);
  if (lost.length === 0) return {};
  return {
    lost_attempts: lost.map(({ initiated_at, finished_at }) => ({
      initiated_at: formatRfc3339(initiated_at),
      finished_at: formatRfc3339(finished_at),
    })),
  };
}

/** Formats the applications that the app can reach. */
function formatApiAccess(run: RunsTable) {
  const api_access = parseApiAccess(run);
  return api_access === null ? {} : { api_access };
}

function formatTracking({ cloned_run_id, input_id }: RunsTable) {
  if (cloned_run_id === null && input_id === null) return {};
  return {
    tracking: {
      ...(cloned_run_id === null ? {} : { cloned_run_id }),
      ...(input_id === null ? {} : { input_id }),
    },
  };
}

/** Formats a run for a list. */
export function runBody(run: ListedRun, hidden: ReadonlySet<string>): Run {
  const options = formatOptions(run, hidden);
  return {
    ...runSummaryBody(run),
    ...(run.input_id === null ? {} : { input_id: run.input_id }),
    options: options.active,
    request_options: options.requested,
    options_summary: options.summary,
    ...formatStartAndEnd(run),
    ...(run.finished_at === null ? {} : { execution_duration: roundMs(run.execution_ms) ?? 0 }),
    ...formatLostAttempts(run),
  };
}

function formatStartAndEnd({ initiated_at, finished_at }: ListedRun) {
  return {
    ...(initiated_at === null ? {} : { initiated_at: formatRfc3339(initiated_at) }),
    ...(finished_at === null ? {} : { finished_at: formatRfc3339(finished_at) }),
  };
}

/** Formats a run for the list of an experiment. */
export function experimentRunBody(run: ListedRun, hidden: ReadonlySet<string>): ExperimentRun {
  const { option_set, scenario_id, repetition, input_set_id, candidate_refused, candidate_refusal } =
    parseLabels(run);
  return {
    ...runBody(run, hidden),
    ...(run.experiment_type !== null && servesCallers(run.experiment_type)
      ? { candidate_refused: candidate_refused ?? false }
      : {}),
    ...(candidate_refusal === undefined ? {} : { candidate_refusal }),
    instance_id: run.instance_id,
    version_id: run.version_id,
    option_set: option_set ?? null,
    scenario_id: scenario_id ?? null,
    repetition: repetition ?? null,
    input_set_id: input_set_id ?? null,
    start_conditions: parseStartConditions(run),
  };
}

/** Marks the numbers that a double does not hold, so that the response has their digits. */
function markReport(json: string | null): string | null {
  return json === null ? null : markExactNumbers(json);
}

/** Rounds to whole milliseconds: the runner measures nanoseconds, but the digits below a millisecond are noise. */
function roundMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

/**
 * Formats a run without its content. The duration of a run that has not ended is measured until `now`. `waiting` is the
 * reason why a queued run has not started.
 */
export function runInformationBody(
  run: RunsTable,
  hidden: ReadonlySet<string>,
  now: number,
  waiting: Waiting | null,
): RunInformation {
  const info = runSummaryBody(run);
  const options = formatOptions(run, hidden);
  const statistics = parseStatistics({ id: run.id, statistics: markReport(run.statistics) });
  const metrics = parseMetrics({ id: run.id, metrics: markReport(run.metrics) });
  const limits = parseLimits(run);
  const until = isTerminal(run.status) ? (run.finished_at ?? run.created_at) : now;
  const measures = {
    duration:
      run.run_type === 'external' ? (roundMs(run.execution_ms) ?? 0) : Math.max(0, until - run.created_at),
    execution_duration:
      roundMs(run.execution_ms) ??
      (run.status === 'running' && run.initiated_at !== null ? Math.max(0, now - run.initiated_at) : 0),
    input_size: run.input_bytes,
    output_size: run.output_bytes,
    error: run.error,
  };
  return {
    ...info,
    ...measures,
    createdAt: info.created_at,
    secrets_collection_id: run.secrets_collection_id ?? '',
    metadata: {
      application_id: info.application_id,
      application_instance_id: info.application_instance_id,
      application_version_id: info.application_version_id,
      created_at: info.created_at,
      ...formatStartAndEnd(run),
      status: info.status,
      status_v2: info.status_v2,
      ...measures,
      execution_class: info.execution_class,
      format: { input: { type: run.input_format }, output: { type: run.output_format } },
      queuing_disabled: info.queuing_disabled,
      queuing_priority: info.queuing_priority,
      run_type: info.run_type,
      ...formatExperiment(run),
      ...formatWorkflow(run),
      runtime: info.runtime,
      options: {
        active_options: options.active,
        options_summary: options.summary,
        request_options: options.requested,
      },
      ...(statistics === null ? {} : { statistics }),
      ...(metrics === null ? {} : { metrics }),
      ...(run.assets_error === null ? {} : { assets_error: run.assets_error }),
      ...(run.previous_run_id === null ? {} : { previous_run_id: run.previous_run_id }),
      ...formatTracking(run),
      ...(run.secrets_collection_id === null ? {} : { secrets_collection_id: run.secrets_collection_id }),
      attempt: run.attempt,
      ...formatLostAttempts(run),
      ...(waiting ? { waiting } : {}),
      containment: run.containment,
      ...(limits === null ? {} : { limits }),
      ...(run.max_duration === null ? {} : { max_duration: run.max_duration }),
      ...(run.runtime_version === null ? {} : { runtime_version: run.runtime_version }),
      ...formatApiAccess(run),
      ...formatRequirements(run),
      ...(run.peak_memory_bytes === null ? {} : { peak_memory_bytes: run.peak_memory_bytes }),
    },
  };
}

/** Formats an asset without its content. */
export function assetBody(row: AssetsTable): Asset {
  const visual = parseVisual(row);
  return {
    id: row.id,
    run_id: row.run_id,
    name: row.name,
    description: row.description,
    content_type: 'json',
    size: row.bytes,
    created_at: formatRfc3339(row.created_at),
    ...(visual === null ? {} : { visual }),
  };
}
