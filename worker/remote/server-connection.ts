/** The protocol with the server: one method for each operation, typed by the contract, with retries. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { SYNC_JOBS_MAX } from '@switchyard/contract/limits.ts';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { AttemptEnd, LogBatch } from '@switchyard/contract/workers/attempt-schemas.ts';
import { WorkerJob } from '@switchyard/contract/workers/job-schemas.ts';
import {
  endAttempt,
  proveAttempt,
  putAttemptFile,
  registerWorker,
  WORKER_PROTOCOL,
  WorkerInstructions,
  type WorkerRegistration,
  type WorkerSync,
} from '@switchyard/contract/workers/worker-protocol.ts';
import type { ResultFile } from '@switchyard/runner';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import { Ajv } from 'ajv';
import Type, { type Static, type TSchema } from 'typebox';
import { computeBackoffMs } from '../backoff.ts';
import type { WorkerClock, WorkerLog } from '../environment.ts';
import { RefusedError, type ServerRequests } from './http-client.ts';

const FIRST_RETRY_MS = 200;
const RETRY_MS_MAX = 5000;

// As in the server, the `$id` of a schema names a component of the document, and is none of Ajv.
const ajv = new Ajv({
  ...{ strict: false, strictNumbers: true, schemaId: 'id', validateSchema: false, meta: false },
  formats: { 'date-time': true, password: true },
});

/** Returns the delay in milliseconds after the n-th request in a row that did not reach the server, counted from 1. */
export function computeRequestDelayMs(failures: number): number {
  return computeBackoffMs(failures, FIRST_RETRY_MS, RETRY_MS_MAX);
}

/** The jobs of instructions are checked one by one: one that is wrong must not keep the others from the worker. */
const parseInstructions = createParser(
  'The response to a sync',
  Type.Object({
    ...WorkerInstructions.properties,
    jobs: Type.Array(Type.Unknown(), { maxItems: SYNC_JOBS_MAX }),
  }),
);
const parseJob = createParser('A job', WorkerJob);
const parseRegistered = createParser('The response to a registration', registerWorker.responses[201].schema);
const parseProof = createParser('The response with a proof', proveAttempt.responses[200].schema);
const parseFile = createParser('The response to a file', putAttemptFile.responses[200].schema);
const parseEnded = createParser('The response to an end', endAttempt.responses[200].schema);

/** Identifies an attempt at the server. */
export interface AttemptPlace {
  workerId: string;
  runId: string;
  fence: number;
}

interface Parts {
  http: ServerRequests;
  clock: WorkerClock;
  log: WorkerLog;
}

/** Calls the operations of the protocol. A method throws RefusedError when the server refuses, and retries otherwise. */
export class ServerConnection {
  readonly #parts: Parts;
  #isClosing = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The address of the server without a trailing slash. */
  get url(): string {
    return this.#parts.http.url;
  }

  /** Lets no request be retried any more, so that the worker ends although the server cannot be reached. */
  stopRetrying(): void {
    this.#isClosing = true;
  }

  async checkProtocol(): Promise<void> {
    await this.retry(() => this.#parts.http.call('GET', `/v1/workers/protocol?protocol=${WORKER_PROTOCOL}`));
  }

  async register(registration: WorkerRegistration): Promise<string> {
    const register = async () =>
      parseRegistered(await this.#parts.http.call('POST', '/v1/workers', registration));
    return (await this.retry(register)).worker_id;
  }

  /** Sends one sync, without a retry: the next one has a newer state. */
  async sync(workerId: string, state: WorkerSync): Promise<WorkerInstructions> {
    const path = `/v1/workers/${encodeURIComponent(workerId)}/sync`;
    const instructions = parseInstructions(await this.#parts.http.call('POST', path, state));
    return { ...instructions, jobs: instructions.jobs.flatMap((job) => this.#parseJob(job)) };
  }

  /** Returns the job, or none for one that is not as the protocol says. */
  #parseJob(job: unknown): WorkerJob[] {
    try {
      return [parseJob(job)];
    } catch (error) {
      this.#parts.log.error({ error: getErrorMessage(error) }, 'Job refused.');
      return [];
    }
  }

  async leave(workerId: string): Promise<void> {
    await this.#parts.http.call('DELETE', `/v1/workers/${encodeURIComponent(workerId)}`);
  }

  async prove(place: AttemptPlace, endpoint: string): Promise<string> {
    const prove = async () =>
      parseProof(await this.#parts.http.call('POST', formatPath(place, 'proof'), { endpoint }));
    return (await this.retry(prove)).proof;
  }

  /** Stores lines of the log, without a retry: the log sends the same batch again. */
  async writeLog(place: AttemptPlace, batch: LogBatch): Promise<void> {
    await this.#parts.http.call('POST', formatPath(place, 'log'), batch);
  }

  /** Uploads a result file and returns its id. */
  async putFile(place: AttemptPlace, { path, bytes }: ResultFile): Promise<UploadId> {
    const upload = async () =>
      parseFile(await this.#parts.http.upload(formatPath(place, 'files'), createReadStream(path), bytes));
    return (await this.retry(upload)).file_id;
  }

  async end(place: AttemptPlace, end: AttemptEnd): Promise<boolean> {
    const send = async () => parseEnded(await this.#parts.http.call('POST', formatPath(place, 'end'), end));
    return (await this.retry(send)).stored;
  }

  download(path: string): Promise<Readable> {
    return this.retry(() => this.#parts.http.download(path));
  }

  /** Repeats a request until the server responds, with growing delays. Each is one that may arrive twice. */
  async retry<T>(send: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      try {
        return await send();
      } catch (error) {
        if (error instanceof RefusedError || this.#isClosing) throw error;
        const delayMs = computeRequestDelayMs(tries);
        log.warn({ tries, delayMs, error: String(error) }, 'Request failed; retrying.');
        await new Promise<void>((resolve) => clock.after(delayMs, resolve));
      }
    }
  }
}

function formatPath({ workerId, runId, fence }: AttemptPlace, action: string): string {
  return `/v1/workers/${encodeURIComponent(workerId)}/runs/${encodeURIComponent(runId)}/${fence}/${action}`;
}

/** A response that is not as the contract says. It is treated like one that did not arrive. */
class InvalidResponseError extends Error {}

/**
 * Returns a function that returns a value of the schema, and throws InvalidResponseError for any other one. `noun`
 * names it. A server may lie, and a proxy before it may answer in its place. Ids and hashes of a job become names of
 * files, so none of them may be a path.
 */
export function createParser<T extends TSchema>(noun: string, schema: T): (value: unknown) => Static<T> {
  const validate = ajv.compile<Static<T>>(schema);
  return (value) => {
    if (validate(value)) return value;
    const [error] = validate.errors ?? [];
    const field = error?.instancePath.slice(1).replaceAll('/', '.') || 'it';
    throw new InvalidResponseError(`${noun} is not as the protocol says: ${field} ${error?.message ?? ''}.`);
  };
}
