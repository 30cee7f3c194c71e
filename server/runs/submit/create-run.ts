/** What a request for a run asks for: which kind of run, and on which input. */

import { DIRECT_INPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { RunCreate, RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { ExperimentId, InputId } from '@switchyard/contract/schemas/ids.ts';
import { listHiddenOptions } from '../../applications/executable.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication } from '../../applications/store.ts';
import type { Contents, PreparedContent } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { Call } from '../../http/handlers/handler.ts';
import { extractRawField } from '../../http/requests/raw-json.ts';
import type { Random } from '../../random.ts';
import type { Uploads } from '../../uploads/uploads.ts';
import { prepareExternalResult } from '../results/external-result.ts';
import type { ExperimentRef } from '../store/planned-runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { resolveInstance, resolveTarget } from './resolve-instance.ts';
import { type ManagedContent, type RunRequest, submitExternal, submitStandard } from './submit.ts';
import { submitRouted } from './submit-routed.ts';

export interface CreateRunParts {
  database: Database;
  contents: Contents;
  uploads: Uploads;
  clock: Clock;
  random: Random;
  /** A managed input of the application, its content under a name of its own; throws the 400 when there is none. */
  useInput(applicationUid: string, id: InputId): Promise<ManagedContent>;
  /** Makes a run of an ensemble; throws the 400 when the application has no such definition, or it cannot be run. */
  startEnsemble(asked: EnsembleRunRequest): Promise<RunsTable>;
  /** The batch experiment that a run is to join; throws the 400 when there is none, or it has ended. */
  joinBatch(application: ApplicationsTable, id: ExperimentId): Promise<JoinedExperiment>;
}

/** What a run of an ensemble is asked for with. */
export interface EnsembleRunRequest extends RunRequest {
  definitionId: string;
  /** Of the caller, who is told nothing of options that are hidden from it. */
  role: Role;
}

/** An experiment that a run joins: stored with the run, and counts it in the transaction that stores the run. */
export interface JoinedExperiment {
  experiment: ExperimentRef;
  join(tx: Writer): Promise<void>;
}

type CreateCall = Call<Operations['createRun']>;

/** Makes the run that the request asks for. */
export async function createRun(parts: CreateRunParts, call: CreateCall): Promise<RunsTable> {
  const { caller, params, query, body } = call;
  const { database, clock, random } = parts;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const type = typeOf(body);
  refuseEnsembleInBatch(body, type);
  refuseSeveralInputs(body);
  const joined = body.batch_experiment_id
    ? await parts.joinBatch(application, body.batch_experiment_id)
    : null;
  const managed = body.input_id ? await parts.useInput(application.uid, body.input_id) : null;
  const asked = {
    application,
    email: caller.email,
    name: body.name ?? '',
    description: body.description ?? '',
    options: body.options ?? null,
    configuration: body.configuration ?? {},
    clonedRunId: body.tracking?.cloned_run_id || null,
    managed,
    input: (format: FormatType) => prepareInput(parts, application, call, format),
    experiment: joined?.experiment ?? null,
    async inTransaction(tx: Writer, id: RunsTable['id']) {
      await call.remember(tx, { status: 202, body: { run_id: id } });
      await joined?.join(tx);
    },
  };
  const submitting = {
    database,
    clock,
    random,
    onQueued: () => database.notify('runs-queued'),
    onEnded: () => database.notify('runs-ended'),
  };
  if (type === 'external') {
    const target = await resolveTarget(database.read, application, query.instance_id);
    const { result } = body;
    return submitExternal(submitting, {
      ...asked,
      target,
      hidden: listHiddenOptions(target.executable, caller.role),
      result: async ({ output }) =>
        result ? prepareExternalResult(parts, application.uid, result, output) : null,
    });
  }
  const definitionId = definitionOf(body, type);
  if (definitionId !== null) return parts.startEnsemble({ ...asked, definitionId, role: caller.role });
  const submission = async (instanceId: string | undefined) => {
    const target = await resolveInstance(database.read, application, instanceId);
    return { ...asked, target, hidden: listHiddenOptions(target.executable, caller.role) };
  };
  // No test copies or sends elsewhere what belongs to another experiment.
  if (joined) return submitStandard(submitting, await submission(query.instance_id));
  return submitRouted(submitting, application, query.instance_id, async (instanceId, routed) => ({
    ...(await submission(instanceId)),
    ...routed,
  }));
}

/** A result makes a run external: only what was executed somewhere else has one from the start. */
function typeOf({ configuration, result }: RunCreate): RunTypeName {
  const type = configuration?.run_type?.type || (result ? 'external' : 'standard');
  if (result && type !== 'external') {
    throw badRequest(
      `result is given and configuration.run_type.type is ${quoteValue(type)}; only an external run has a result.`,
    );
  }
  return type;
}

function refuseEnsembleInBatch(body: RunCreate, type: RunTypeName): void {
  const definition = definitionOf(body, type);
  if (definition !== null && body.batch_experiment_id)
    throw badRequest(
      `batch_experiment_id is ${quoteValue(body.batch_experiment_id)} and configuration.run_type.type is "ensemble"; the run of an ensemble cannot join a batch experiment.`,
    );
}

/** The definition that a run of the type ensemble names; null for a run of another type, which names none. */
function definitionOf({ configuration }: RunCreate, type: RunTypeName): string | null {
  const id = configuration?.run_type?.definition_id || null;
  if (type === 'ensemble' && id === null)
    throw badRequest(
      'configuration.run_type.definition_id is missing; a run of the type ensemble names its ensemble definition.',
    );
  if (type !== 'ensemble' && id !== null)
    throw badRequest(
      `configuration.run_type.definition_id is ${quoteValue(id)} and the run is of the type ${type}; only a run of the type ensemble has a definition.`,
    );
  return id;
}

const SOURCES = ['input', 'upload_id', 'input_id'] as const;

function refuseSeveralInputs(body: RunCreate): void {
  const given = SOURCES.filter((name) => isGiven(body[name]) && !(name !== 'input' && body[name] === ''));
  if (given.length < 2) return;
  const values = given.map((name) => (name === 'input' ? name : `${name} (${quoteValue(body[name])})`));
  throw badRequest(`${values.join(' and ')} are given; the input of a run is one of ${SOURCES.join(', ')}.`);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The input of a new run: what was uploaded, or what stands in the request, byte for byte. */
async function prepareInput(
  parts: CreateRunParts,
  application: ApplicationsTable,
  { body, rawBody }: CreateCall,
  format: FormatType,
): Promise<PreparedContent> {
  if (body.upload_id) return parts.uploads.use(application.uid, body.upload_id, 'content', 'upload_id');
  if (isArchive(format))
    throw badRequest(`The format of the input is ${format}; upload an archive and give its upload_id.`);
  if (format === 'text') {
    if (typeof body.input !== 'string')
      throw badRequest(`input is ${quoteValue(body.input ?? null)}; for the format text it must be text.`);
    return prepareDirect(parts, Buffer.from(body.input));
  }
  const raw = isGiven(body.input) ? extractRawField(rawBody, 'input') : undefined;
  return prepareDirect(parts, raw ?? Buffer.from('null'));
}

function prepareDirect(parts: CreateRunParts, input: Buffer): Promise<PreparedContent> {
  if (input.length > DIRECT_INPUT_BYTES_MAX) {
    throw badRequest(
      `input has ${input.length} bytes; given directly it may have ${DIRECT_INPUT_BYTES_MAX}. Upload it and give its upload_id.`,
    );
  }
  return parts.contents.prepare(input);
}
