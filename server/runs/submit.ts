/**
 * Where every run is born. What it will run, with which options, class, priority and format is settled here and kept with
 * the run, so that later changes of instance or version do not touch it. The run, its input and its first event are one
 * transaction; the caller answers after it is durable.
 */
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import type { InputId, RunId, SecretsCollectionId } from '@switchyard/contract/ids.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type { OptionSummary } from '@switchyard/contract/run-shapes.ts';
import type { FormatType } from '@switchyard/contract/shapes.ts';
import { optionNames } from '../applications/executable.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { checkApplication } from '../applications/store.ts';
import { ContentGoneError, type PreparedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, Problem, shown } from '../http/problem.ts';
import {
  asText,
  type GivenConfiguration,
  optionNameError,
  optionsError,
  secretsOf,
} from '../instances/rules.ts';
import { makeId, type Random } from '../random.ts';
import { hasCollection } from '../secrets/store.ts';
import { discardAll, insertResults, type PreparedEnd } from './finish.ts';
import { type Formats, formatsOf, formatsOfExternal } from './formats.ts';
import { ruleError, sizeError, summarize } from './options.ts';
import { insertPlanned, type Mark, type PlannedRun } from './plan.ts';
import { NO_EXECUTABLE, type Place, type Resolved } from './resolve.ts';
import type { RunsTable } from './schema.ts';
import { insertRun } from './store.ts';
import { checkExecutable, refuseWhenFull } from './submit-checks.ts';

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
export interface Birth {
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
  experiment?: Mark | null;
  planUnitIndex?: number | null;
  parentRunId?: RunId | null;
  /** Labels, in JSON. */
  labels?: string | null;
  /** Makes the input, once the format is known; throws the 400 that says what is wrong with it. */
  input(format: FormatType): Promise<PreparedContent>;
  /** Done in the transaction that brings the run, first. */
  also?(tx: Writer, id: RunId): Promise<void>;
}

export interface Submission extends Birth {
  resolved: Resolved;
  /** Options that a refusal must not name. */
  hidden?: ReadonlySet<string>;
}

/** A run that is not executed here. */
export interface Registration extends Birth {
  place: Place;
  /** Options that a refusal must not name. */
  hidden?: ReadonlySet<string>;
  /** Makes the result, once the format is known; null for none yet. */
  result(formats: Formats): Promise<PreparedEnd | null>;
}

/** A run of an ensemble, which consists of others. */
export interface Gathering extends Birth {
  definitionId: string;
  /** Run groups and rules, in JSON. */
  definition: string;
  formats: Formats;
  /** What it consists of, but for the input, which is its own. */
  children: readonly Omit<PlannedRun, 'contentId' | 'inputFormat' | 'inputId' | 'parentRunId'>[];
}

export type RunConfiguration = GivenConfiguration & { run_type?: { reference_id?: string | null } | null };

/** A managed input, or one of an experiment, ready to be the input of a run. */
export interface ManagedContent {
  /** null for one that has no name. */
  id: InputId | null;
  format: FormatType;
  content: PreparedContent;
}

/** Queues a run. */
export async function submit(parts: SubmitParts, asked: Submission): Promise<RunsTable> {
  const { resolved, configuration } = asked;
  const { requestOptions, summary } = settleOptions(resolved, asked.options, asked.hidden ?? new Set());
  const secrets = secretsOf(configuration) ?? secretsOf(resolved.configuration);
  if (secrets !== null) await checkSecrets(parts.database, asked, secrets);
  const formats = formatsOf(
    resolved.requirements,
    resolved.configuration,
    configuration,
    asked.managed?.format,
  );
  checkManaged(asked.managed, formats);
  const input = await inputOf(asked, formats);
  const run: RunsTable = {
    ...born(parts, asked, { place: resolved, formats, input, summary, requestOptions }),
    status: 'queued',
    run_type: 'standard',
    secrets_collection_id: secrets,
    ...notStarted,
  };
  await bring(parts, asked, run, input, async (tx) => {
    if (run.queuing_disabled === 1) await refuseWhenFull(tx, run, run.created_at);
  });
  parts.onQueued();
  return run;
}

/** Keeps a run that is executed somewhere else, ended when it has a result. */
export async function register(parts: SubmitParts, asked: Registration): Promise<RunsTable> {
  const { place, configuration } = asked;
  const requestOptions = optionsOf(asked.options, place.requirements, asked.hidden ?? new Set());
  // What the run really got is known to the caller alone; no default and no rule of the app applies.
  const summary = summarize({ definitions: null, instance: {}, run: requestOptions });
  const formats = formatsOfExternal(
    place.requirements,
    place.configuration,
    configuration,
    asked.managed?.format,
  );
  const result = await asked.result(formats);
  const input = await inputOf(asked, formats);
  const run: RunsTable = {
    ...born(parts, asked, { place, formats, input, summary, requestOptions }),
    status: 'none',
    run_type: 'external',
    secrets_collection_id: null,
    ...notStarted,
    ...result?.ending,
  };
  try {
    await bring(parts, asked, run, input, async (tx) => {
      if (result) await insertResults(tx, run.id, result);
    });
  } catch (error) {
    if (error instanceof Problem) await discardAll(result?.contents ?? []);
    throw error;
  }
  if (result) parts.onEnded();
  return run;
}

/** Brings the run of an ensemble, which goes on from the start, and plans what it consists of. */
export async function gather(parts: SubmitParts, asked: Gathering): Promise<RunsTable> {
  const { formats } = asked;
  checkManaged(asked.managed, formats);
  const input = await inputOf(asked, formats);
  const place = {
    instanceId: '',
    versionId: '' as const,
    executableId: NO_EXECUTABLE,
    requirements: null,
    configuration: {},
  };
  const run: RunsTable = {
    // What was asked for as options is shown with the runs that get them.
    ...born(parts, asked, { place, formats, input, summary: [], requestOptions: {} }),
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
    at: run.created_at,
    email: run.user_email,
    experiment: null,
  };
  const children = asked.children.map((child) => ({
    ...child,
    contentId: input.id,
    inputFormat: formats.input,
    inputId: asked.managed?.id ?? null,
    parentRunId: run.id,
  }));
  await bring(parts, asked, run, input, (tx) => insertPlanned(tx, plan, children));
  parts.database.notify('runs-planned');
  return run;
}

/** What the app is given, or the 400 that says what is wrong with it; `hidden` are options it must not name. */
export function settleOptions(
  { requirements, configuration }: Pick<Resolved, 'requirements' | 'configuration'>,
  given: Birth['options'],
  hidden: ReadonlySet<string>,
): { requestOptions: Record<string, string>; summary: OptionSummary[] } {
  const requestOptions = optionsOf(given, requirements, hidden);
  const definitions = requirements.options;
  const instance = asText(configuration.options);
  const summary = summarize({ definitions, instance, run: requestOptions });
  const broken = sizeError(summary) ?? ruleError(summary, definitions, hidden);
  if (broken) throw badRequest(broken);
  return { requestOptions, summary };
}

function optionsOf(
  options: Birth['options'],
  requirements: Place['requirements'],
  hidden: ReadonlySet<string>,
): Record<string, string> {
  const declared = { names: optionNames(requirements?.options), hidden };
  const error =
    optionsError(options, 'options') ?? optionNameError(Object.keys(options ?? {}), 'options', declared);
  if (error) throw badRequest(error);
  return asText(options);
}

function inputOf(asked: Birth, formats: Formats): Promise<PreparedContent> | PreparedContent {
  return asked.managed ? asked.managed.content : asked.input(formats.input);
}

/** The manifest of an app can promise another format than the input has. */
function checkManaged(managed: ManagedContent | null | undefined, formats: Formats): void {
  if (!managed || managed.format === formats.input) return;
  throw badRequest(
    managed.id === null
      ? `The input has the format ${managed.format}; the app takes ${formats.input}.`
      : `input_id is ${shown(managed.id)}, whose format is ${managed.format}; the app takes ${formats.input}.`,
  );
}

interface Settled {
  place: Place;
  formats: Formats;
  input: PreparedContent;
  summary: OptionSummary[];
  requestOptions: Record<string, string>;
}

/** The columns that every run is born with. */
function born({ clock, random }: SubmitParts, asked: Birth, settled: Settled) {
  const { application, configuration } = asked;
  const { place, formats, input, summary, requestOptions } = settled;
  const queuing = { ...place.configuration.queuing, ...configuration.queuing };
  return {
    id: makeId<RunId>(random, 'run'),
    application_uid: application.uid,
    account_id: application.account_id,
    application_id: application.id,
    instance_id: place.instanceId,
    version_id: place.versionId,
    executable_id: place.executableId,
    user_email: asked.email,
    name: asked.name,
    description: asked.description,
    created_at: asked.at ?? clock.now(),
    definition_id: null,
    reference_id: configuration.run_type?.reference_id ?? null,
    execution_class:
      configuration.execution_class ?? place.configuration.execution_class ?? EXECUTION_CLASS_DEFAULT,
    priority: queuing.priority ?? PRIORITY_DEFAULT,
    queuing_disabled: (queuing.disabled ?? false) ? 1 : 0,
    runtime: place.requirements?.runtime ?? '',
    input_format: formats.input,
    output_format: formats.output,
    input_content_id: input.id,
    input_bytes: input.bytes,
    options_summary: JSON.stringify(summary),
    request_options: JSON.stringify(requestOptions),
    network: place.configuration.network ? 1 : 0,
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
async function bring(
  { database }: SubmitParts,
  asked: Birth,
  run: RunsTable,
  input: PreparedContent,
  further: (tx: Writer) => Promise<void>,
): Promise<void> {
  try {
    await database.transact(async (tx) => {
      await asked.also?.(tx, run.id);
      // A run born after its application was deleted would be executed, and never removed.
      await checkApplication(tx, asked.application);
      await checkExecutable(tx, run);
      await further(tx);
      await input.insert(tx);
      await insertRun(tx, run);
    });
  } catch (error) {
    const refusal =
      error instanceof ContentGoneError
        ? badRequest('The upload was removed meanwhile; upload it again.')
        : error;
    // After any other error it is not known whether the run was written; then the blob is left to be swept.
    if (refusal instanceof Problem) await input.discard().catch(() => {});
    throw refusal;
  }
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
  { application, configuration, resolved }: Submission,
  id: SecretsCollectionId,
): Promise<void> {
  if (await hasCollection(database.read, application.uid, id)) return;
  throw badRequest(
    secretsOf(configuration) === null
      ? `The secrets collection ${shown(id)} of the instance ${shown(resolved.instanceId)} does not exist; give the instance another.`
      : `configuration.secrets_collection_id is ${shown(id)}; it must be a secrets collection of the application ${shown(application.id)}.`,
  );
}
