/** Creates the run that a caller requests: resolves the type of the run, its instance and its input. */

import { DIRECT_INPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { RunCreate, RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { listHiddenOptions } from '../../apps/applications/executable.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { PreparedContent } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { CallingRun, OperationCall } from '../../platform/http/handlers/handler.ts';
import { findStartingKey } from '../../platform/http/handlers/run-scope.ts';
import { extractRawField } from '../../platform/http/requests/raw-json.ts';
import { prepareExternalResult } from '../results/external-result.ts';
import type { ExperimentRef } from '../store/planned-runs.ts';
import { resolveInstance, resolveTarget } from './resolve-instance.ts';
import {
  type RunRequest,
  type StoreRun,
  type SubmitParts,
  submitExternal,
  submitStandard,
} from './submit.ts';
import { submitRouted } from './submit-routed.ts';

export type CreateRunContext = Pick<
  Context,
  | 'database'
  | 'contents'
  | 'uploads'
  | 'clock'
  | 'random'
  | 'jsonReader'
  | 'useInput'
  | 'startEnsemble'
  | 'joinBatch'
  | 'coreHourLimiter'
>;

export interface EnsembleRunRequest extends RunRequest {
  definitionId: string;
  /** The role of the caller. Error messages do not name options that are hidden from it. */
  role: Role;
}

/** An experiment that a run joins. `join` counts the run in the transaction that creates it. */
export interface JoinedExperiment {
  experiment: ExperimentRef;
  join(tx: Writer): Promise<void>;
}

type CreateRunCall = Pick<
  OperationCall<'createRun'>,
  'caller' | 'params' | 'query' | 'body' | 'rawBody' | 'trace'
>;

/** How a requested run is stored. */
interface RunStorage<R> {
  store: StoreRun<R>;
  /** The run whose app requests the run. */
  workflow?: CallingRun;
  /** Called with the input before the transaction. */
  onInput?: (input: PreparedContent) => void;
  /** Called first in the transaction. */
  inTransaction?: (tx: Writer, id: RunId) => Promise<void>;
}

/** Creates the requested run in the transaction of `store`, and returns its result. Throws a 4xx for an invalid request. */
export async function submitRequestedRun<R>(
  context: CreateRunContext,
  call: CreateRunCall,
  { store, workflow, onInput, inTransaction }: RunStorage<R>,
): Promise<R> {
  const { caller, params, body } = call;
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  const type = parseRunType(body);
  rejectEnsembleInBatch(body, type);
  rejectSeveralInputs(body);
  const joined = body.batch_experiment_id
    ? await context.joinBatch(application, body.batch_experiment_id)
    : null;
  const managed = body.input_id ? await context.useInput(application.uid, body.input_id) : null;
  if (managed) onInput?.(managed.content);
  const request: RunRequest = {
    application,
    email: caller.email,
    key: findStartingKey(caller),
    name: body.name ?? '',
    description: body.description ?? '',
    options: body.options ?? null,
    configuration: body.configuration ?? {},
    clonedRunId: body.tracking?.cloned_run_id || null,
    managed,
    input: async (format) => {
      const input = await prepareInput(context, application, call, format);
      onInput?.(input);
      return input;
    },
    experiment: joined?.experiment ?? null,
    trace: call.trace,
    workflow,
    inTransaction: async (tx, id) => {
      await inTransaction?.(tx, id);
      await joined?.join(tx);
    },
  };
  const parts = { ...context, store };
  if (type === 'external') return submitExternalRun(parts, call, request);
  await context.coreHourLimiter.requireHours(caller.account, params.application_id);
  const definitionId = parseDefinitionId(body, type);
  if (definitionId !== null)
    return context.startEnsemble({ ...request, definitionId, role: caller.role }, store);
  return submitStandardRun(parts, call, { ...request, isJoined: joined !== null });
}

async function submitExternalRun<R>(
  parts: CreateRunContext & SubmitParts<R>,
  { caller, query, body: { result } }: CreateRunCall,
  request: RunRequest,
): Promise<R> {
  const { application } = request;
  const target = await resolveTarget(parts.database.read, application, query.instance_id);
  return submitExternal(parts, {
    ...request,
    target,
    hidden: listHiddenOptions(target.executable, caller.role),
    result: async ({ output }) =>
      result ? prepareExternalResult(parts, application.uid, result, output) : null,
  });
}

async function submitStandardRun<R>(
  parts: SubmitParts<R>,
  { caller, query: { instance_id: requested } }: CreateRunCall,
  { isJoined, ...request }: RunRequest & { isJoined: boolean },
): Promise<R> {
  const { application } = request;
  const resolve = async (instanceId: string | undefined) => {
    const target = await resolveInstance(parts.database.read, application, instanceId);
    return { ...request, target, hidden: listHiddenOptions(target.executable, caller.role) };
  };
  // A run of another experiment is neither captured nor rerouted by a test.
  if (isJoined) return submitStandard(parts, await resolve(requested));
  return submitRouted(parts, {
    application,
    instanceId: requested,
    buildRun: async (instanceId, routed) => ({ ...(await resolve(instanceId)), ...routed }),
  });
}

/** Returns the type of the run. A result makes it external, because only a run executed elsewhere has one from the start. */
function parseRunType({ configuration, result }: RunCreate): RunTypeName {
  const type = configuration?.run_type?.type || (result ? 'external' : 'standard');
  if (result && type !== 'external') {
    throw badRequest(
      `result is given and configuration.run_type.type is ${quoteValue(type)}; only an external run has a result.`,
    );
  }
  return type;
}

function rejectEnsembleInBatch(body: RunCreate, type: RunTypeName): void {
  const definition = parseDefinitionId(body, type);
  if (definition !== null && body.batch_experiment_id)
    throw badRequest(
      `batch_experiment_id is ${quoteValue(body.batch_experiment_id)} and configuration.run_type.type is "ensemble"; the run of an ensemble cannot join a batch experiment.`,
    );
}

/** Returns the definition that a run of the type ensemble names, and null for a run of another type. */
function parseDefinitionId({ configuration }: RunCreate, type: RunTypeName): string | null {
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

const INPUT_FIELDS = ['input', 'upload_id', 'input_id'] as const;

function rejectSeveralInputs(body: RunCreate): void {
  const present = INPUT_FIELDS.filter(
    (name) => isPresent(body[name]) && !(name !== 'input' && body[name] === ''),
  );
  if (present.length < 2) return;
  const values = present.map((name) => (name === 'input' ? name : `${name} (${quoteValue(body[name])})`));
  throw badRequest(
    `${values.join(' and ')} are given; the input of a run is one of ${INPUT_FIELDS.join(', ')}. Send only one.`,
  );
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Prepares the input of a new run: the upload, or the field of the request byte for byte. */
async function prepareInput(
  context: Pick<Context, 'uploads' | 'contents'>,
  application: ApplicationsTable,
  { body, rawBody }: Pick<CreateRunCall, 'body' | 'rawBody'>,
  format: FormatType,
): Promise<PreparedContent> {
  if (body.upload_id) return context.uploads.use(application.uid, body.upload_id, 'content', 'upload_id');
  if (isArchive(format))
    throw badRequest(`The format of the input is ${format}; upload an archive and give its upload_id.`);
  if (format === 'text') {
    if (typeof body.input !== 'string')
      throw badRequest(`input is ${quoteValue(body.input ?? null)}; for the format text it must be text.`);
    return prepareInline(context, Buffer.from(body.input));
  }
  const raw = isPresent(body.input) ? extractRawField(rawBody, 'input') : undefined;
  return prepareInline(context, raw ?? Buffer.from('null'));
}

function prepareInline({ contents }: Pick<Context, 'contents'>, input: Buffer): Promise<PreparedContent> {
  if (input.length > DIRECT_INPUT_BYTES_MAX) {
    throw badRequest(
      `input has ${input.length} bytes; in the request it may have ${DIRECT_INPUT_BYTES_MAX}. Upload it and give its upload_id.`,
    );
  }
  return contents.prepare(input);
}
