/**
 * Where every run is born. What it will run, with which options, class, priority and format is settled here and kept with
 * the run, so that later changes of instance or version do not touch it. The run, its input and its first event are one
 * transaction; the caller answers after it is durable.
 */
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/runs/run-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId, RunId, SecretsCollectionId } from '@switchyard/contract/schemas/ids.ts';
import { listOptionNames } from '../../applications/executable.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { lockLiveApplication } from '../../applications/store.ts';
import { ContentRemovedError, type PreparedContent } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { badRequest, Problem, quoteValue } from '../../http/errors/problem.ts';
import {
  type RequestedConfiguration,
  secretsCollectionId,
  stringifyOptions,
  validateOptionNames,
  validateOptions,
} from '../../instances/rules.ts';
import { makeId, type Random } from '../../random.ts';
import { hasCollection } from '../../secrets/store.ts';
import { discardContents, insertResultContents, type PreparedResult } from '../results/prepared-result.ts';
import { type ExperimentRef, insertPlannedRuns, type PlannedRun } from '../store/planned-runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { insertRun } from '../store/transitions.ts';
import { type Formats, resolveExternalFormats, resolveFormats } from './formats.ts';
import { findOptionRuleError, findOptionsSizeError, summarizeOptions } from './options.ts';
import { type ExecutableTarget, NO_EXECUTABLE, type RunTarget } from './resolve-instance.ts';
import { checkExecutable, requireFreeSlot } from './submit-checks.ts';

export interface SubmitParts {
  database: Database;
  clock: Clock;
  random: Random;
  /** Told after the commit that brought a run to execute. */
  onQueued(): void;
  /** Told after the commit that brought a run with its result. */
  onEnded(): void;
}

/** What a run is made of, whoever executes it. */
export interface RunRequest {
  application: ApplicationsTable;
  email: string;
  name: string;
  description: string;
  options: Record<string, string | number | boolean> | null;
  configuration: RunConfiguration;
  clonedRunId?: string | null;
  /** The managed input it runs on. */
  managed?: ManagedContent | null;
  /** When it is made; now when nothing is said. */
  at?: number;
  /** The experiment it belongs to. */
  experiment?: ExperimentRef | null;
  planUnitIndex?: number | null;
  parentRunId?: RunId | null;
  /** Labels, in JSON. */
  labels?: string | null;
  /** Makes the input, once the format is known; throws the 400 that says what is wrong with it. */
  input(format: FormatType): Promise<PreparedContent>;
  /** Called first in the transaction that stores the run. */
  inTransaction?(tx: Writer, id: RunId): Promise<void>;
}

export interface StandardRun extends RunRequest {
  target: ExecutableTarget;
  /** Options that a refusal must not name. */
  hidden?: ReadonlySet<string>;
}

/** A run that is not executed here. */
export interface ExternalRun extends RunRequest {
  target: RunTarget;
  /** Options that a refusal must not name. */
  hidden?: ReadonlySet<string>;
  /** Makes the result, once the format is known; null for none yet. */
  result(formats: Formats): Promise<PreparedResult | null>;
}

/** A run of an ensemble, which consists of others. */
export interface EnsembleRun extends RunRequest {
  definitionId: string;
  /** Run groups and rules, in JSON. */
  definition: string;
  formats: Formats;
  /** What it consists of, but for the input, which is its own. */
  children: readonly Omit<PlannedRun, 'contentId' | 'inputFormat' | 'inputId' | 'parentRunId'>[];
}

export type RunConfiguration = RequestedConfiguration & {
  run_type?: { reference_id?: string | null } | null;
};

/** A managed input, or one of an experiment, ready to be the input of a run. */
export interface ManagedContent {
  /** null for one that has no name. */
  id: InputId | null;
  format: FormatType;
  content: PreparedContent;
}

/** Queues a run. */
export async function submitStandard(parts: SubmitParts, asked: StandardRun): Promise<RunsTable> {
  const { target, configuration } = asked;
  const { requestOptions, summary } = resolveOptions(target, asked.options, asked.hidden ?? new Set());
  const secrets = secretsCollectionId(configuration) ?? secretsCollectionId(target.configuration);
  if (secrets !== null) await checkSecrets(parts.database, asked, secrets);
  const formats = resolveFormats(
    target.requirements,
    target.configuration,
    configuration,
    asked.managed?.format,
  );
  checkManaged(asked.managed, formats);
  const input = await inputOf(asked, formats);
  const run: RunsTable = {
    ...initialRow(parts, asked, { target, formats, input, summary, requestOptions }),
    status: 'queued',
    run_type: 'standard',
    secrets_collection_id: secrets,
    ...notStarted,
  };
  await insertInTransaction(parts, asked, run, input, async (tx) => {
    if (run.queuing_disabled === 1) await requireFreeSlot(tx, run, run.created_at);
  });
  parts.onQueued();
  return run;
}

/** Keeps a run that is executed somewhere else, ended when it has a result. */
export async function submitExternal(parts: SubmitParts, asked: ExternalRun): Promise<RunsTable> {
  const { target, configuration } = asked;
  const requestOptions = optionsOf(asked.options, target.requirements, asked.hidden ?? new Set());
  // What the run really got is known to the caller alone; no default and no rule of the app applies.
  const summary = summarizeOptions({ definitions: null, instance: {}, run: requestOptions });
  const formats = resolveExternalFormats(
    target.requirements,
    target.configuration,
    configuration,
    asked.managed?.format,
  );
  const result = await asked.result(formats);
  const input = await inputOf(asked, formats);
  const run: RunsTable = {
    ...initialRow(parts, asked, { target, formats, input, summary, requestOptions }),
    status: 'none',
    run_type: 'external',
    secrets_collection_id: null,
    ...notStarted,
    ...result?.finalColumns,
  };
  try {
    await insertInTransaction(parts, asked, run, input, async (tx) => {
      if (result) await insertResultContents(tx, run.id, result);
    });
  } catch (error) {
    if (error instanceof Problem) await discardContents(result?.contents ?? []);
    throw error;
  }
  if (result) parts.onEnded();
  return run;
}

/** Brings the run of an ensemble, which goes on from the start, and plans what it consists of. */
export async function submitEnsemble(parts: SubmitParts, asked: EnsembleRun): Promise<RunsTable> {
  const { formats } = asked;
  checkManaged(asked.managed, formats);
  const input = await inputOf(asked, formats);
  const target = {
    instanceId: '',
    versionId: '' as const,
    executableId: NO_EXECUTABLE,
    requirements: null,
    configuration: {},
  };
  const run: RunsTable = {
    // What was asked for as options is shown with the runs that get them.
    ...initialRow(parts, asked, { target, formats, input, summary: [], requestOptions: {} }),
    ...notStarted,
    status: 'running',
    run_type: 'ensemble',
    secrets_collection_id: null,
    definition_id: asked.definitionId,
    ensemble: asked.definition,
  };
  const plan = {
    ownerUid: run.id,
    applicationUid: run.application_uid,
    plannedAt: run.created_at,
    userEmail: run.user_email,
    experiment: null,
  };
  const children = asked.children.map((child) => ({
    ...child,
    contentId: input.id,
    inputFormat: formats.input,
    inputId: asked.managed?.id ?? null,
    parentRunId: run.id,
  }));
  await insertInTransaction(parts, asked, run, input, (tx) => insertPlannedRuns(tx, plan, children));
  parts.database.notify('runs-planned');
  return run;
}

/** What the app is given, or the 400 that says what is wrong with it; `hidden` are options it must not name. */
export function resolveOptions(
  { requirements, configuration }: Pick<ExecutableTarget, 'requirements' | 'configuration'>,
  given: RunRequest['options'],
  hidden: ReadonlySet<string>,
): { requestOptions: Record<string, string>; summary: OptionSummary[] } {
  const requestOptions = optionsOf(given, requirements, hidden);
  const definitions = requirements.options;
  const instance = stringifyOptions(configuration.options);
  const summary = summarizeOptions({ definitions, instance, run: requestOptions });
  const broken = findOptionsSizeError(summary) ?? findOptionRuleError(summary, definitions, hidden);
  if (broken) throw badRequest(broken);
  return { requestOptions, summary };
}

function optionsOf(
  options: RunRequest['options'],
  requirements: RunTarget['requirements'],
  hidden: ReadonlySet<string>,
): Record<string, string> {
  const declared = { names: listOptionNames(requirements?.options), hiddenNames: hidden };
  const error =
    validateOptions(options, 'options') ??
    validateOptionNames(Object.keys(options ?? {}), 'options', declared);
  if (error) throw badRequest(error);
  return stringifyOptions(options);
}

function inputOf(asked: RunRequest, formats: Formats): Promise<PreparedContent> | PreparedContent {
  return asked.managed ? asked.managed.content : asked.input(formats.input);
}

/** The manifest of an app can promise another format than the input has. */
function checkManaged(managed: ManagedContent | null | undefined, formats: Formats): void {
  if (!managed || managed.format === formats.input) return;
  throw badRequest(
    managed.id === null
      ? `The input has the format ${managed.format}; the app takes ${formats.input}.`
      : `input_id is ${quoteValue(managed.id)}, whose format is ${managed.format}; the app takes ${formats.input}.`,
  );
}

interface ResolvedRun {
  target: RunTarget;
  formats: Formats;
  input: PreparedContent;
  summary: OptionSummary[];
  requestOptions: Record<string, string>;
}

/** The columns of every new run. */
function initialRow({ clock, random }: SubmitParts, asked: RunRequest, settled: ResolvedRun) {
  const { application, configuration } = asked;
  const { target, formats, input, summary, requestOptions } = settled;
  const queuing = { ...target.configuration.queuing, ...configuration.queuing };
  return {
    id: makeId<RunId>(random, 'run'),
    application_uid: application.uid,
    account_id: application.account_id,
    application_id: application.id,
    instance_id: target.instanceId,
    version_id: target.versionId,
    executable_id: target.executableId,
    user_email: asked.email,
    name: asked.name,
    description: asked.description,
    created_at: asked.at ?? clock.now(),
    definition_id: null,
    reference_id: configuration.run_type?.reference_id ?? null,
    execution_class:
      configuration.execution_class ?? target.configuration.execution_class ?? EXECUTION_CLASS_DEFAULT,
    priority: queuing.priority ?? PRIORITY_DEFAULT,
    queuing_disabled: (queuing.disabled ?? false) ? 1 : 0,
    runtime: target.requirements?.runtime ?? '',
    input_format: formats.input,
    output_format: formats.output,
    input_content_id: input.id,
    input_bytes: input.bytes,
    options_summary: JSON.stringify(summary),
    request_options: JSON.stringify(requestOptions),
    network: target.configuration.network ? 1 : 0,
    input_id: asked.managed?.id ?? null,
    cloned_run_id: asked.clonedRunId ?? null,
    experiment_uid: asked.experiment?.uid ?? null,
    experiment_id: asked.experiment?.id ?? null,
    experiment_type: asked.experiment?.type ?? null,
    plan_unit_index: asked.planUnitIndex ?? null,
    parent_run_id: asked.parentRunId ?? null,
    labels: asked.labels ?? null,
    ensemble: null,
    rules_result: null,
  } as const;
}

/** Brings the run with its input, in one transaction with what else belongs to it. */
async function insertInTransaction(
  { database }: SubmitParts,
  asked: RunRequest,
  run: RunsTable,
  input: PreparedContent,
  further: (tx: Writer) => Promise<void>,
): Promise<void> {
  try {
    await database.transact(
      async (tx) => {
        await asked.inTransaction?.(tx, run.id);
        // A run stored after its application was deleted would be executed, and never removed.
        await lockLiveApplication(tx, asked.application);
        await checkExecutable(tx, run);
        await further(tx);
        await input.insert(tx);
        await insertRun(tx, run);
      },
      { insertOnly: isInsertOnly(run) },
    );
  } catch (error) {
    const refusal =
      error instanceof ContentRemovedError
        ? badRequest('The upload was removed meanwhile; upload it again.')
        : error;
    // After any other error it is not known whether the run was written; then the blob is left to be swept.
    if (refusal instanceof Problem) await input.discard().catch(() => {});
    throw refusal;
  }
}

/** Whether the transaction that stores the run counts nothing: neither free slots nor the runs of an experiment. */
function isInsertOnly(run: RunsTable): boolean {
  return (
    run.run_type === 'standard' &&
    run.queuing_disabled === 0 &&
    run.experiment_uid === null &&
    run.parent_run_id === null
  );
}

const notStarted = {
  attempt: 0,
  host_faults: 0,
  retry_at: null,
  host_fault: null,
  fence: 0,
  worker_id: null,
  cancel_requested_at: null,
  initiated_at: null,
  finished_at: null,
  execution_ms: null,
  output_content_id: null,
  output_bytes: 0,
  error: '',
  stdout_content_id: null,
  log_content_id: null,
  statistics_status: 'none',
  statistics_error: '',
  indicators: '[]',
  statistics: null,
  metrics: null,
  metrics_error: null,
  assets_error: null,
  containment: '',
  limits: null,
  runtime_version: null,
  peak_memory_bytes: null,
} as const;

/** Whoever deletes the collection after this fails the run, not the request. */
async function checkSecrets(
  database: Database,
  { application, configuration, target }: StandardRun,
  id: SecretsCollectionId,
): Promise<void> {
  if (await hasCollection(database.read, application.uid, id)) return;
  throw badRequest(
    secretsCollectionId(configuration) === null
      ? `The secrets collection ${quoteValue(id)} of the instance ${quoteValue(target.instanceId)} does not exist; give the instance another.`
      : `configuration.secrets_collection_id is ${quoteValue(id)}; it must be a secrets collection of the application ${quoteValue(application.id)}.`,
  );
}
