/**
 * Creates every run. Stores executable, options, execution class, priority and format with it, so that later changes do not
 * affect it. Run, input and first event are one transaction; the response is sent after it is durable.
 */
import { type Formats, resolveFormats } from '@switchyard/contract/applications/formats.ts';
import { findOptionsSizeError, summarizeOptions } from '@switchyard/contract/applications/run-options.ts';
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/runs/run-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId, KeyId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { listOptionNames } from '../../apps/applications/executable.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import {
  findSecretsCollectionId,
  type RequestedConfiguration,
  stringifyOptions,
  validateOptionNames,
  validateOptions,
} from '../../apps/instances/rules.ts';
import { requireActiveSubscription } from '../../apps/marketplace/require-active.ts';
import { ContentRemovedError, type PreparedContent } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { CommitOptions } from '../../platform/http/handlers/commit.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { CallingRun } from '../../platform/http/handlers/handler.ts';
import { makeId } from '../../platform/random.ts';
import { formatRequirements } from '../queue/run-requirements.ts';
import { discardContents, insertResultContents, type PreparedResult } from '../results/prepared-result.ts';
import { type ExperimentRef, insertPlannedRuns, type PlannedRun } from '../store/planned-runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { insertRun } from '../store/transitions.ts';
import { formatTrace, type TracedRequest } from '../tracing/run-trace.ts';
import { requireManifestFormats, resolveExternalFormats } from './formats.ts';
import { NOT_EXECUTED, NOT_STARTED } from './not-started.ts';
import { findOptionRuleError } from './options.ts';
import type { PreviousOutput } from './previous-output.ts';
import { type ExecutableTarget, NO_EXECUTABLE, type RunTarget } from './resolve-instance.ts';
import { resolveMaxDuration } from './resolve-max-duration.ts';
import { checkExecutable, checkSecrets, requireFreeSlot } from './submit-checks.ts';
import { formatApiAccess, formatWorkflow, type ParentRun } from './workflow-columns.ts';

/** Runs the transaction that creates a run: `database.transact` of a job, or `commit` of a handler with its response. */
export type StoreRun<R> = (work: (tx: Writer) => Promise<RunsTable>, options: CommitOptions) => Promise<R>;

export interface SubmitParts<R> extends Pick<Context, 'database' | 'clock' | 'random'> {
  store: StoreRun<R>;
}

/** The common part of all run requests. */
export interface RunRequest extends TracedRequest {
  /** The id of the run; the default is a new one. */
  id?: RunId;
  application: ApplicationsTable;
  email: string;
  /** The key behind the request; null when unknown. */
  key: KeyId | null;
  name: string;
  description: string;
  options: Record<string, string | number | boolean> | null;
  configuration: RunConfiguration;
  clonedRunId?: string | null;
  /** A managed input, in place of the one that `input` prepares. */
  managed?: ManagedContent | null;
  /** The output of an earlier run from which the app starts. */
  previous?: PreviousOutput | null;
  /** Creation time in milliseconds; the default is now. */
  at?: number;
  /** The experiment that the run belongs to. */
  experiment?: ExperimentRef | null;
  planUnitIndex?: number | null;
  parentRunId?: RunId | null;
  /** The run whose app requests this one. */
  workflow?: CallingRun | undefined;
  /** The parent run of a planned run. */
  parent?: ParentRun | undefined;
  /** Labels as JSON text. */
  labels?: string | null;
  /** Prepares the input once the format is known; throws a 400 for an invalid one. */
  input(format: FormatType): Promise<PreparedContent>;
  /** Called first in the transaction that creates the run. */
  inTransaction?(tx: Writer, id: RunId): Promise<void>;
}

export interface StandardRun extends RunRequest {
  target: ExecutableTarget;
  /** Options that the message of a 400 must not name. */
  hidden?: ReadonlySet<string>;
}

/** A run that is executed elsewhere. */
export interface ExternalRun extends RunRequest {
  target: RunTarget;
  /** Options that the message of a 400 must not name. */
  hidden?: ReadonlySet<string>;
  /** Prepares the result once the format is known; null for none yet. */
  result(formats: Formats): Promise<PreparedResult | null>;
}

/** The run of an ensemble, which has child runs. */
export interface EnsembleRun extends RunRequest {
  definitionId: string;
  /** Run groups and rules as JSON text. */
  definition: string;
  formats: Formats;
  /** The child runs, which get the input of the run. */
  children: readonly Omit<PlannedRun, 'contentId' | 'inputFormat' | 'inputId' | 'parentRunId'>[];
}

type RunConfiguration = RequestedConfiguration & {
  run_type?: { reference_id?: string | null } | null;
};

/** A managed input or an input of an experiment, with a content of its own for the run. */
export interface ManagedContent {
  /** null for an input of an experiment, which has no id. */
  id: InputId | null;
  format: FormatType;
  content: PreparedContent;
}

/** Creates a queued run. Throws a 4xx for an invalid request. */
export async function submitStandard<R>(parts: SubmitParts<R>, request: StandardRun): Promise<R> {
  const { database } = parts;
  const { target, configuration } = request;
  const { requestOptions, summary } = resolveOptions(target, request.options, request.hidden ?? new Set());
  const secrets = findSecretsCollectionId(configuration) ?? findSecretsCollectionId(target.configuration);
  if (secrets !== null) await checkSecrets(database.read, request, secrets);
  const formats = resolveFormats(
    target.requirements,
    target.configuration,
    configuration,
    request.managed?.format,
  );
  requireManifestFormats(request.application, target.requirements, formats);
  checkManaged(request.managed, formats);
  const input = await prepareInput(request, formats);
  const run: RunsTable = {
    ...initialRow(parts, request, { target, formats, input, summary, requestOptions }),
    status: 'queued',
    run_type: 'standard',
    api_access: formatApiAccess(request, target.configuration),
    ...formatRequirements(target.configuration),
    secrets_collection_id: secrets,
    ...NOT_STARTED,
  };
  const stored = await insertInTransaction(parts, request, {
    run,
    input,
    async insertFurther(tx) {
      if (run.queuing_disabled === 1) await requireFreeSlot(tx, run, run.created_at);
    },
  });
  database.notify('runs-queued');
  return stored;
}

/** Creates a run that is executed elsewhere. With a result in the request it has ended. Throws a 4xx for an invalid request. */
export async function submitExternal<R>(parts: SubmitParts<R>, request: ExternalRun): Promise<R> {
  const { target, configuration } = request;
  const requestOptions = parseOptions(request.options, target.requirements, request.hidden ?? new Set());
  // Only the caller knows the options the run got, so no default and no rule of the app applies.
  const summary = summarizeOptions({ definitions: null, instance: {}, run: requestOptions });
  const formats = resolveExternalFormats(
    target.requirements,
    target.configuration,
    configuration,
    request.managed?.format,
  );
  const result = await request.result(formats);
  const input = await prepareInput(request, formats);
  const run: RunsTable = {
    ...initialRow(parts, request, { target, formats, input, summary, requestOptions }),
    status: 'none',
    run_type: 'external',
    ...NOT_EXECUTED,
    ...NOT_STARTED,
    ...result?.finalColumns,
  };
  const stored = await insertInTransaction(parts, request, {
    run,
    input,
    async insertFurther(tx) {
      if (result) await insertResultContents(tx, run.id, result);
    },
  }).catch(async (error: unknown) => {
    if (error instanceof Problem) await discardContents(result?.contents ?? []);
    throw error;
  });
  if (result) parts.database.notify('runs-ended');
  return stored;
}

/** Creates the run of an ensemble, which is running from the start, and plans its child runs. */
export async function submitEnsemble<R>(parts: SubmitParts<R>, request: EnsembleRun): Promise<R> {
  const { formats } = request;
  checkManaged(request.managed, formats);
  const input = await prepareInput(request, formats);
  const target = {
    instanceId: '',
    versionId: '' as const,
    executableId: NO_EXECUTABLE,
    requirements: null,
    configuration: {},
  };
  const run: RunsTable = {
    // The requested options are in the child runs, which get them.
    ...initialRow(parts, request, { target, formats, input, summary: [], requestOptions: {} }),
    ...NOT_STARTED,
    status: 'running',
    run_type: 'ensemble',
    ...NOT_EXECUTED,
    definition_id: request.definitionId,
    ensemble: request.definition,
  };
  const plan = {
    ...{ ownerUid: run.id, applicationUid: run.application_uid, plannedAt: run.created_at },
    ...{ userEmail: run.user_email, key: run.created_by_key, experiment: null },
  };
  const children = request.children.map((child) => ({
    ...child,
    contentId: input.id,
    inputFormat: formats.input,
    inputId: request.managed?.id ?? null,
    parentRunId: run.id,
  }));
  const stored = await insertInTransaction(parts, request, {
    run,
    input,
    insertFurther: (tx) => insertPlannedRuns(tx, plan, children),
  });
  parts.database.notify('runs-planned');
  return stored;
}

/** Returns the options that the app gets. Throws a 400 for invalid ones, which does not name the `hidden` options. */
export function resolveOptions(
  { requirements, configuration }: Pick<ExecutableTarget, 'requirements' | 'configuration'>,
  requested: RunRequest['options'],
  hidden: ReadonlySet<string>,
): { requestOptions: Record<string, string>; summary: OptionSummary[] } {
  const requestOptions = parseOptions(requested, requirements, hidden);
  const definitions = requirements.options;
  const instance = stringifyOptions(configuration.options);
  const summary = summarizeOptions({ definitions, instance, run: requestOptions });
  const error = findOptionsSizeError(summary) ?? findOptionRuleError(summary, definitions, hidden);
  if (error) throw badRequest(error);
  return { requestOptions, summary };
}

function parseOptions(
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

function prepareInput(request: RunRequest, formats: Formats): Promise<PreparedContent> | PreparedContent {
  return request.managed ? request.managed.content : request.input(formats.input);
}

/** Throws a 400 for an input whose format differs from the one in the manifest of the app. */
function checkManaged(managed: ManagedContent | null | undefined, formats: Formats): void {
  if (!managed || managed.format === formats.input) return;
  throw badRequest(
    managed.id === null
      ? `The input has the format ${managed.format}; the app takes ${formats.input}. Use an input of that format.`
      : `input_id is ${quoteValue(managed.id)}, whose format is ${managed.format}; the app takes ${formats.input}. Use an input of that format.`,
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
function initialRow(
  { clock, random }: Pick<Context, 'clock' | 'random'>,
  request: RunRequest | EnsembleRun,
  { target, formats, input, summary, requestOptions }: ResolvedRun,
) {
  const { application, configuration } = request;
  const queuing = { ...target.configuration.queuing, ...configuration.queuing };
  return {
    id: request.id ?? makeId<RunId>(random, 'run'),
    application_uid: application.uid,
    account_id: application.account_id,
    application_id: application.id,
    instance_id: target.instanceId,
    version_id: target.versionId,
    executable_id: target.executableId,
    ...{ user_email: request.email, created_by_key: request.key },
    name: request.name,
    description: request.description,
    created_at: request.at ?? clock.now(),
    definition_id: null,
    reference_id: configuration.run_type?.reference_id ?? null,
    execution_class:
      configuration.execution_class ?? target.configuration.execution_class ?? EXECUTION_CLASS_DEFAULT,
    max_duration: resolveMaxDuration(request, target.configuration),
    priority: queuing.priority ?? PRIORITY_DEFAULT,
    queuing_disabled: (queuing.disabled ?? false) ? 1 : 0,
    runtime: target.requirements?.runtime ?? '',
    input_format: formats.input,
    output_format: formats.output,
    input_content_id: input.id,
    input_bytes: input.bytes,
    previous_run_id: request.previous?.runId ?? null,
    previous_content_id: request.previous?.content.id ?? null,
    previous_format: request.previous?.format ?? null,
    options_summary: JSON.stringify(summary),
    request_options: JSON.stringify(requestOptions),
    network: target.configuration.network ? 1 : 0,
    input_id: request.managed?.id ?? null,
    cloned_run_id: request.clonedRunId ?? null,
    experiment_uid: request.experiment?.uid ?? null,
    experiment_id: request.experiment?.id ?? null,
    experiment_type: request.experiment?.type ?? null,
    plan_unit_index: request.planUnitIndex ?? null,
    parent_run_id: request.workflow?.id ?? request.parentRunId ?? null,
    ...formatWorkflow(request),
    labels: request.labels ?? null,
    ensemble: null,
    rules_result: null,
    ...formatTrace(request),
  } as const;
}

/** The rows that one transaction inserts. */
interface NewRun {
  run: RunsTable;
  input: PreparedContent;
  insertFurther(tx: Writer): Promise<void>;
  /** Locks the executable, and throws a 400 for a missing one; by default with the version of the run. */
  lockExecutable?: (tx: Writer, run: RunsTable) => Promise<void>;
}

/** Inserts the run with its input and its further rows in one transaction. */
export async function insertInTransaction<R>(
  { store }: Pick<SubmitParts<R>, 'store'>,
  request: Pick<RunRequest, 'application' | 'inTransaction' | 'previous'>,
  { run, input, insertFurther, lockExecutable = checkExecutable }: NewRun,
): Promise<R> {
  try {
    return await store(
      async (tx) => {
        await request.inTransaction?.(tx, run.id);
        // A run stored after its application was deleted would be executed, and never removed.
        await lockLiveApplication(tx, request.application);
        await requireActiveSubscription(tx, request.application);
        await lockExecutable(tx, run);
        await insertFurther(tx);
        await input.insert(tx);
        await request.previous?.content.insert(tx);
        await insertRun(tx, run);
        return run;
      },
      { insertOnly: isInsertOnly(run) },
    );
  } catch (error) {
    const rejection =
      error instanceof ContentRemovedError
        ? badRequest('The upload of the input was removed during the request. Upload the content again.')
        : error;
    // After any other error the run may have been stored, so the clean-up job decides whether the blob is orphaned.
    if (rejection instanceof Problem) await input.discard().catch(() => {});
    throw rejection;
  }
}

/** Returns true if the transaction counts neither free slots nor the runs of an experiment, so that it needs no lock. */
function isInsertOnly(run: RunsTable): boolean {
  return (
    run.run_type === 'standard' &&
    run.queuing_disabled === 0 &&
    run.experiment_uid === null &&
    run.parent_run_id === null
  );
}
