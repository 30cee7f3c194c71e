/** Creates the run that a caller requests: resolves the type of the run, its instance and its input. */
import { DIRECT_INPUT_BYTES_MAX, ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { RunCreate, RunTypeName } from '@switchyard/contract/runs/run-schemas.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { listConfidentialOptions, listHiddenOptions } from '../../apps/applications/executable.ts';
import type { ApplicationsTable, ExecutablesTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { PreparedContent } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { CallingRun, OperationCall } from '../../platform/http/handlers/handler.ts';
import { findStartingKey } from '../../platform/http/handlers/run-scope.ts';
import { extractRawField } from '../../platform/http/requests/raw-json.ts';
import { prepareExternalResult } from '../results/external-result.ts';
import type { RunLabels } from '../run-columns.ts';
import type { ExperimentRef } from '../store/planned-runs.ts';
import {
  findRoute,
  findUnitIndex,
  hasRoute,
  insertCapture,
  isInWindow,
  isSampled,
  normalizeInstanceId,
  type RunRoute,
} from '../store/routes.ts';
import { findPreviousOutput } from './previous-output.ts';
import { resolveInstance, resolveInstanceId, resolveTarget } from './resolve-instance.ts';
import {
  type RunRequest,
  resolveOptions,
  type StandardRun,
  type StoreRun,
  type SubmitParts,
  submitExternal,
  submitStandard,
} from './submit.ts';

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
  rejectPreviousOfExternal(body, type);
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
    previous: await findPreviousOutput(context, application, body),
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

function rejectPreviousOfExternal({ previous_run_id: id }: RunCreate, type: RunTypeName): void {
  if (id && type === 'external')
    throw badRequest(
      `previous_run_id is ${quoteValue(id)} and the run is external; only an app that the server executes gets the output of an earlier run.`,
    );
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

/** The fields that the test adds to the run request. */
interface Routed {
  at: number;
  experiment?: ExperimentRef;
  planUnitIndex?: number;
  labels?: string;
}

interface RoutedRequest {
  application: ApplicationsTable;
  /** The instance id of the request. */
  instanceId: string | undefined;
  /** Builds the run request for an instance. */
  buildRun(instanceId: string | undefined, routed: Routed): Promise<StandardRun>;
}

/**
 * Creates the run that was requested. Throws what `submitStandard` throws for the requested instance. A shadow test
 * captures the run; a switchback test sends it to the instance of the current unit. A run that a test sends belongs
 * to that test: no test of the instance to which it is sent captures it or sends it on.
 * No test can prevent a run: if the candidate refuses it, the requested instance executes it. The run still belongs
 * to its unit, marked as refused (intention to treat), whatever the reason: an invalid option, a deleted instance, a
 * full class. If such runs left the test, the candidate's units would have the easy runs only. A request that both
 * instances refuse, such as one of a full queue, creates no run. It belongs to nobody, and the test of the numbers
 * of runs shows when one side has more of them.
 */
async function submitRouted<R>(parts: SubmitParts<R>, request: RoutedRequest): Promise<R> {
  const { database, clock } = parts;
  const { application, instanceId, buildRun } = request;
  const requested = resolveInstanceId(application, instanceId);
  const route = await findRoute(database.read, application.uid, requested);
  const at = clock.now();
  if (route?.rule.kind === 'switchback') {
    const sent = await submitToUnit(parts, request, { requested, at, route });
    if (sent) return sent;
  }
  const run = await buildRun(instanceId, { at });
  const rule = route?.rule;
  if (route === null || rule?.kind !== 'shadow' || !isInWindow(rule, at)) return submitStandard(parts, run);
  const stored = await submitStandard(
    parts,
    withTransactionStep(run, async (tx, id) => {
      const { experimentUid } = route;
      if (isSampled(rule, id) && (await hasRoute(tx, application.uid, requested, experimentUid)))
        await insertCapture(tx, {
          experiment_uid: experimentUid,
          run_id: id,
          application_uid: application.uid,
          at,
        });
    }),
  );
  database.notify('runs-captured');
  return stored;
}

class RouteRemovedError extends Error {}

interface RoutedInstance {
  /** The instance that the caller requested. */
  requested: string;
  at: number;
  route: RunRoute;
}

/** Returns null for a run outside the units of the test, or after its end. Throws what the requested instance throws. */
async function submitToUnit<R>(
  parts: SubmitParts<R>,
  { application, buildRun }: RoutedRequest,
  { requested, at, route }: RoutedInstance,
): Promise<R | null> {
  const { rule, experimentUid: uid, experimentId: id } = route;
  const unit = rule.kind === 'switchback' ? findUnitIndex(rule, at) : null;
  const instance = rule.kind === 'switchback' && unit !== null ? rule.units[unit] : undefined;
  if (unit === null || instance === undefined) return null;
  const build = (instanceId: string) =>
    buildRun(instanceId, { at, experiment: { uid, id, type: 'switchback' }, planUnitIndex: unit });
  const submit = (run: StandardRun) =>
    submitStandard(
      parts,
      withTransactionStep(run, async (tx) => {
        if (!(await hasRoute(tx, application.uid, requested, uid))) throw new RouteRemovedError();
      }),
    );
  try {
    // Two names can mean the same instance; then the run keeps the one in the request.
    if (normalizeInstanceId(instance) === normalizeInstanceId(requested))
      return await submit(await build(requested));
    let refused: StandardRun | null = null;
    try {
      refused = await build(instance);
      return await submit(refused);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const run = await build(requested);
      const labels: RunLabels = {
        candidate_refused: true,
        candidate_refusal: describeRefusal(error, refused, run),
      };
      return await submit({ ...run, labels: JSON.stringify(labels) });
    }
  } catch (error) {
    if (error instanceof RouteRemovedError) return null;
    throw error;
  }
}

/**
 * Returns the reason why the candidate refused a run. Every role can read it, so it names no option that is hidden from
 * any, neither of the app of the candidate nor of that of the baseline.
 */
function describeRefusal(
  { message }: Problem,
  refused: StandardRun | null,
  { target: { executable } }: StandardRun,
): string {
  const hidden = new Set([refused?.target.executable, executable].flatMap(listConfidential));
  if (refused === null || hidden.size === 0) return message.slice(0, ERROR_CHARS_MAX);
  try {
    resolveOptions(refused.target, refused.options, hidden);
    return message.slice(0, ERROR_CHARS_MAX);
  } catch (error) {
    if (error instanceof Problem) return error.message.slice(0, ERROR_CHARS_MAX);
    throw error;
  }
}

const listConfidential = (executable: ExecutablesTable | undefined): string[] =>
  executable ? [...listConfidentialOptions(executable)] : [];

function withTransactionStep(run: StandardRun, step: (tx: Writer, id: RunId) => Promise<void>): StandardRun {
  return {
    ...run,
    async inTransaction(tx, id) {
      await run.inTransaction?.(tx, id);
      await step(tx, id);
    },
  };
}
