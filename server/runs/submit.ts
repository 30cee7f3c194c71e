/**
 * Where every run is born. What it will run, with which options, class, priority and format is settled here and kept with
 * the run, so that later changes of instance or version do not touch it. The run, its input and its first event are one
 * transaction; the caller answers after it is durable.
 */
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import type { RunId, SecretsCollectionId } from '@switchyard/contract/ids.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type { FormatType } from '@switchyard/contract/shapes.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { ContentGoneError, type PreparedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import { type Database, skipsLocked, type Writer } from '../database/database.ts';
import { badRequest, busy, notFound, Problem, shown } from '../http/problem.ts';
import { asText, type GivenConfiguration, optionsError, secretsOf } from '../instances/rules.ts';
import { freeSlots, servingOf } from '../queue/pools.ts';
import { livingWorkers } from '../queue/workers.ts';
import { makeId, type Random } from '../random.ts';
import { hasCollection } from '../secrets/store.ts';
import { formatsOf } from './formats.ts';
import { ruleError, summarize } from './options.ts';
import type { Resolved } from './resolve.ts';
import type { RunsTable } from './schema.ts';
import { insertRun } from './store.ts';
import { countLoad } from './turns.ts';

export interface SubmitParts {
  database: Database;
  clock: Clock;
  random: Random;
  /** Told after the commit. */
  onQueued(): void;
}

export interface Submission {
  application: ApplicationsTable;
  resolved: Resolved;
  email: string;
  name: string;
  description: string;
  options: Record<string, string | number | boolean> | null;
  configuration: RunConfiguration;
  /** Options whose names the caller may not see. */
  hidden?: ReadonlySet<string>;
  /** Makes the input, once the format is known; throws the 400 that says what is wrong with it. */
  input(format: FormatType): Promise<PreparedContent>;
  /** Done in the transaction that brings the run, first. */
  also?(tx: Writer, id: RunId): Promise<void>;
}

export type RunConfiguration = GivenConfiguration & { run_type?: { reference_id?: string | null } | null };

export async function submit(parts: SubmitParts, asked: Submission): Promise<RunsTable> {
  const { database, clock, random } = parts;
  const { resolved, configuration } = asked;
  const error = optionsError(asked.options, 'options');
  if (error) throw badRequest(error);
  const requestOptions = asText(asked.options);
  const definitions = resolved.requirements.options;
  const summary = summarize({
    definitions,
    instance: asText(resolved.configuration.options),
    run: requestOptions,
  });
  const broken = ruleError(summary, definitions, asked.hidden ?? new Set());
  if (broken) throw badRequest(broken);

  const secrets = secretsOf(configuration) ?? secretsOf(resolved.configuration);
  if (secrets !== null) await checkSecrets(database, asked, secrets);
  const formats = formatsOf(resolved.requirements, resolved.configuration, configuration);
  const input = await asked.input(formats.input);
  const run: RunsTable = {
    id: makeId<RunId>(random, 'run'),
    application_uid: asked.application.uid,
    account_id: asked.application.account_id,
    application_id: asked.application.id,
    instance_id: resolved.instanceId,
    version_id: resolved.versionId,
    executable_id: resolved.executable.id,
    user_email: asked.email,
    name: asked.name,
    description: asked.description,
    status: 'queued',
    created_at: clock.now(),
    run_type: 'standard',
    definition_id: null,
    reference_id: configuration.run_type?.reference_id ?? null,
    execution_class:
      configuration.execution_class ?? resolved.configuration.execution_class ?? EXECUTION_CLASS_DEFAULT,
    priority: configuration.queuing?.priority ?? resolved.configuration.queuing?.priority ?? PRIORITY_DEFAULT,
    queuing_disabled:
      (configuration.queuing?.disabled ?? resolved.configuration.queuing?.disabled ?? false) ? 1 : 0,
    runtime: resolved.requirements.runtime,
    input_format: formats.input,
    output_format: formats.output,
    input_content_id: input.id,
    input_bytes: input.bytes,
    options_summary: JSON.stringify(summary),
    request_options: JSON.stringify(requestOptions),
    network: resolved.configuration.network ? 1 : 0,
    secrets_collection_id: secrets,
    ...notStarted,
  };
  try {
    await database.transact(async (tx) => {
      await asked.also?.(tx, run.id);
      const lock = skipsLocked(database);
      await checkApplication(tx, asked.application, lock);
      if (run.queuing_disabled === 1) await refuseWhenFull(tx, run, run.created_at, lock);
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
  parts.onQueued();
  return run;
}

const notStarted = {
  attempt: 0,
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
  containment: '',
  limits: null,
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

/** A run born after its application was deleted would be executed, and never removed. */
async function checkApplication(tx: Writer, application: ApplicationsTable, lock: boolean): Promise<void> {
  const query = tx
    .selectFrom('applications')
    .select('uid')
    .where('uid', '=', application.uid)
    .where('deleted_at', 'is', null);
  const found = await (lock ? query.forShare() : query).executeTakeFirst();
  if (!found) throw notFound(`There is no application ${shown(application.id)}.`);
}

/** A run that may not wait is taken only when a slot of its class is free and nobody waits for one. */
async function refuseWhenFull(tx: Writer, run: RunsTable, now: number, lock: boolean): Promise<void> {
  const serving = servingOf(await livingWorkers(tx, now, lock), run.execution_class);
  const { slots, classes } = serving;
  const { busy: taken, queued } = await countLoad(tx, { classes, bound: slots });
  const free = freeSlots(serving, taken);
  if (queued < free) return;
  const why =
    slots === 0
      ? 'no worker that is there has one'
      : `of ${slots}, ${slots - free} are taken and ${queued} waited for`;
  throw busy(
    `No slot of execution class ${run.execution_class} is free (${why}) and the run asked not to be queued.`,
  );
}
