/** The operations of the protocol between the server and its remote workers. */
import { API_VERSION, INSTANT_MS_MAX, LOG_CHUNK_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { LogBatch } from '@switchyard/contract/workers/attempt-schemas.ts';
import { WORKER_PROTOCOL, type WorkerRegistration } from '@switchyard/contract/workers/worker-protocol.ts';
import { areLineTimes } from '@switchyard/worker/log/line-times.ts';
import { CHUNKS_PER_CLAIM } from '@switchyard/worker/log/log-batch.ts';
import { badRequest, forbidden, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, CallingWorker, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { countLineChars, findLogExcess } from '../logs/log-batches.ts';
import type { WorkerOffer } from '../workers/offers.ts';
import { getRemoteWorker } from '../workers/remote-workers.ts';
import { type AttemptParams, findLeasedRun, getLeasedRun } from './attempts.ts';

function requireWorker({ worker }: Caller): CallingWorker {
  if (!worker) throw forbidden('Only a remote worker calls this operation.');
  return worker;
}

export const checkWorkerProtocol: OperationHandler<'checkWorkerProtocol'> = async (_, { query }) => {
  if (query.protocol !== WORKER_PROTOCOL)
    throw badRequest(
      `protocol is ${query.protocol}, and the server speaks version ${WORKER_PROTOCOL} of release ${API_VERSION}. Stop the worker, update it to the release of the server with "git pull" or its package, and start it again with "npm run worker".`,
    );
  return { status: 200, body: { protocol: WORKER_PROTOCOL, version: API_VERSION } };
};

export const registerWorker: OperationHandler<'registerWorker'> = async (
  { remoteWorkers },
  { caller, body },
) => {
  const token = requireWorker(caller);
  requireOfferedLabels(body.labels, token.labels);
  const id = await remoteWorkers.register(caller.account, {
    // Two tokens may be used on machines with copies of one folder.
    folderId: `${token.tokenId} ${body.folder_id}`,
    capacity: { shared: body.slots.shared, perClass: body.slots.per_class },
    host: body.host,
    version: body.version,
    offer: formatOffer(body, token, caller.account),
    scratchBytes: body.scratch_bytes,
    tokenId: token.tokenId,
    jobId: body.job_id,
    containment: body.containment,
  });
  return { status: 201, body: { worker_id: id } };
};

function requireOfferedLabels(labels: readonly string[], allowed: readonly string[] | null): void {
  const refused = labels.find((label) => allowed !== null && !allowed.includes(label));
  if (refused !== undefined)
    throw badRequest(
      `labels has ${quoteValue(refused)}, which this worker token does not allow; it allows ${(allowed ?? []).join(', ') || 'none'}. Start the worker without the label, or create another token.`,
    );
}

function formatOffer(
  { labels, resources }: WorkerRegistration,
  { servesAllAccounts, applicationUids }: CallingWorker,
  account: AccountId,
): WorkerOffer {
  return {
    labels,
    resources: resources && { cores: resources.cores, memoryBytes: resources.memory_bytes },
    scope: servesAllAccounts ? null : { account, applicationUids },
  };
}

export const syncWorker: OperationHandler<'syncWorker'> = async (
  { database, workerSyncs, remoteWorkers },
  { caller, params, body, onDisconnect },
) => {
  const find = () => getRemoteWorker(database.read, requireWorker(caller), params.worker_id);
  if (body.stopping) await remoteWorkers.markStopping((await find()).id);
  return { status: 200, body: await workerSyncs.sync(find, body, onDisconnect) };
};

export const leaveWorker: OperationHandler<'leaveWorker'> = async (
  { database, remoteWorkers },
  { caller, params },
) => {
  const { id } = await getRemoteWorker(database.read, requireWorker(caller), params.worker_id);
  await remoteWorkers.remove(id);
  return { status: 204 };
};

export const proveAttempt: OperationHandler<'proveAttempt'> = async (context, { caller, params, body }) => {
  const run = await getAttempt(context, caller, params);
  return { status: 200, body: { proof: context.runTokens.prove(run, body.endpoint) } };
};

export const writeAttemptLog: OperationHandler<'writeAttemptLog'> = async (
  context,
  { caller, params, body },
) => {
  const run = await getAttempt(context, caller, params);
  requireBatch('', run.fence, body);
  await context.remoteWorkers.writeLog(run, body);
  return { status: 204 };
};

/**
 * Throws a 400 for lines that are no pairs of a time and a text, and for a chunk with too much text. The numbers must be those
 * of the attempt. `place` is what comes before the names of the fields.
 */
function requireBatch(place: string, fence: number, body: LogBatch): void {
  const isLine = ([at, text]: [unknown, unknown]) =>
    typeof at === 'number' && at >= 0 && Number.isSafeInteger(at) && typeof text === 'string';
  if (!body.chunks.every(({ lines }) => lines.every(isLine)))
    throw badRequest(
      `${place}chunks has a line that is no pair of a time and a text, such as [1763625600000000, "solved"].`,
    );
  for (const [index, { lines }] of body.chunks.entries()) {
    const chars = countLineChars(lines);
    if (chars > LOG_CHUNK_CHARS_MAX)
      throw badRequest(
        `${place}chunks.${index}.lines has ${chars} characters of text; a chunk may have ${LOG_CHUNK_CHARS_MAX}. Send the lines in several chunks.`,
      );
  }
  const first = fence * CHUNKS_PER_CLAIM;
  const numbers = [
    ...body.chunks.map(({ seq }) => seq),
    ...[body.series.replacement, body.series.addition].flatMap((row) => (row ? [row.seq] : [])),
  ];
  const wrong = numbers.find((seq) => seq < first || seq >= first + CHUNKS_PER_CLAIM);
  if (wrong !== undefined)
    throw badRequest(
      `${place}seq is ${wrong}; the numbers of this attempt are from ${first} to ${first + CHUNKS_PER_CLAIM - 1}.`,
    );
}

/** Throws a 400 for times of lines that no reader of the log could format. */
function requireTimes(times: string | null): void {
  if (times !== null && !areLineTimes(Buffer.from(times, 'base64'), INSTANT_MS_MAX))
    throw badRequest(
      `log.times is ${quoteValue(times)}; it must be the encoded times of the lines, each before the year 275760, or null.`,
    );
}

export const putAttemptFile: OperationHandler<'putAttemptFile'> = async (
  context,
  { caller, params, stream, reserveStreamMemory },
) => {
  const run = await getAttempt(context, caller, params);
  await reserveStreamMemory(caller);
  return { status: 200, body: { file_id: await context.attemptFiles.store(run, stream) } };
};

export const endAttempt: OperationHandler<'endAttempt'> = async (context, { caller, params, body }) => {
  await getRemoteWorker(context.database.read, requireWorker(caller), params.worker_id);
  const run = await findLeasedRun(context.database.read, params);
  for (const [index, batch] of body.log.batches.entries())
    requireBatch(`log.batches.${index}.`, Number(params.fence), batch);
  requireTimes(body.log.times);
  const excess = run ? await findLogExcess(context.database.read, run, body.log.batches) : null;
  if (excess !== null) throw badRequest(`log.batches: ${excess}`);
  if (run) await context.attemptEnds.store(run, body);
  return { status: 200, body: { stored: run !== undefined } };
};

/** Returns the run of an attempt of a worker of the caller; throws a 404 for any other. */
async function getAttempt({ database }: Pick<Context, 'database'>, caller: Caller, params: AttemptParams) {
  await getRemoteWorker(database.read, requireWorker(caller), params.worker_id);
  return getLeasedRun(database.read, params);
}
