/**
 * Run tokens: each attempt of a run whose instance has `api_access` gets one. No row stores it. It names the run and the
 * fencing token of the attempt, with an HMAC over both, and is valid while the run is running under that fencing token. So
 * it ends with the attempt: at the end of the run, when a cancel is requested, and when the run is requeued. It also ends when
 * the member who started the run is removed from the account.
 *
 * A run token alone opens nothing. The server's proxy, through which the app reaches the server, adds a proof to each
 * request. A token that leaves the run is therefore useless elsewhere, also while the run lasts. The other way round, a
 * request with a proof needs the run token: with a key in its files, an app without network could send its data to another
 * account.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { CLASS_LIMITS } from '@switchyard/contract/execution-classes.ts';
import type { ApplicationId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { isRemovedMember } from '../../account/member-store.ts';
import { normalizeEmail } from '../../account/schema.ts';
import type { Clock } from '../../clock.ts';
import type { Reader } from '../../database/database.ts';
import { unauthorized } from '../../http/errors/problem.ts';
import type { Caller } from '../../http/handlers/handler.ts';
import { decodeBase64Url } from '../../http/requests/base64url.ts';
import type { RunsTable } from '../store/schema.ts';

/** Time after the limit of the execution class, for the grace period of an app that is ended. */
const EXPIRY_MARGIN_MS = 60_000;
const TOKEN = /^run\.([a-z0-9-]{1,64})\.(\d{1,10})\.([\w-]{43})$/;
const PROOF = /^(http:\/\/127\.0\.0\.1:\d{1,5}) ([\w-]{43})$/;

type Attempt = Pick<RunsTable, 'id' | 'fence'>;

/** Signs and verifies run tokens, and the proofs of the proxy. */
export class RunTokens {
  readonly #key: Buffer;

  /** `key` is the HMAC key, 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Returns the token of an attempt. */
  sign({ id, fence }: Attempt): string {
    return `run.${id}.${fence}.${this.#mac('token', id, fence).toString('base64url')}`;
  }

  /** Returns the proof that requests at the endpoint come from the app of the attempt. */
  prove({ id, fence }: Attempt, endpoint: string): string {
    return `${endpoint} ${this.#mac('proof', id, fence, endpoint).toString('base64url')}`;
  }

  /** Returns the attempt that the token names; null for any other text. Throws a 401 for a token with a wrong signature. */
  parse(token: string): { id: string; fence: number } | null {
    if (!token.startsWith('run.')) return null;
    const [, id = '', fence = '', mac = ''] = TOKEN.exec(token) ?? [];
    if (!isEqual(mac, this.#mac('token', id, Number(fence))))
      throw unauthorized(
        'The run token was not issued by this server. Use the one in NEXTMV_API_KEY unchanged.',
      );
    return { id, fence: Number(fence) };
  }

  /** Returns the endpoint of the proof; null when it is missing or proves nothing about the attempt. */
  verifyProof(proof: string | undefined, { id, fence }: { id: string; fence: number }): string | null {
    const [, endpoint = '', mac = ''] = PROOF.exec(proof ?? '') ?? [];
    return isEqual(mac, this.#mac('proof', id, fence, endpoint)) ? endpoint : null;
  }

  #mac(...parts: readonly (string | number)[]): Buffer {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest();
  }
}

function isEqual(text: string, expected: Buffer): boolean {
  const received = decodeBase64Url(text);
  return received?.length === expected.length && timingSafeEqual(received, expected);
}

/** Returns the run, and whether the member who started it was removed from the account; undefined when it does not exist. */
async function findCallingRun(db: Reader, id: string) {
  const run = await db
    .selectFrom('runs')
    .select((eb) => [
      ...(['id', 'account_id', 'application_id', 'name', 'user_email', 'status', 'fence'] as const),
      ...([
        'cancel_requested_at',
        'initiated_at',
        'execution_class',
        'api_access',
        'workflow_depth',
      ] as const),
      eb.ref('id').$castTo<KeyId>().as('key'),
    ])
    .where((eb) => eb(eb.ref('id').$castTo<string>(), '=', id))
    .executeTakeFirst();
  if (!run) return undefined;
  const owner = normalizeEmail(run.user_email);
  return { ...run, owner, isOwnerRemoved: await isRemovedMember(db, run.account_id, owner) };
}

type CallingRunRow = NonNullable<Awaited<ReturnType<typeof findCallingRun>>>;

/** Returns the sentence that says why the token of the attempt is not valid any more; null while it is. */
function findEnd(run: CallingRunRow | undefined, fence: number, now: number): string | null {
  if (!run) return 'the run was deleted';
  if (run.status !== 'running') return `the run is ${run.status}`;
  if (run.fence !== fence) return 'the run was started again, and the new attempt has another token';
  if (run.cancel_requested_at !== null) return 'a cancel of the run was requested';
  const expiresAt =
    (run.initiated_at ?? 0) + CLASS_LIMITS[run.execution_class].duration_ms + EXPIRY_MARGIN_MS;
  if (expiresAt <= now) return 'the run has lasted longer than its execution class allows';
  // The keys of a removed member end at once, and a run of theirs can last for hours.
  if (run.isOwnerRemoved) return `the member ${run.user_email} was removed from the account`;
  return run.api_access === null ? 'the run has no access to the API' : null;
}

/** Finds the run of a valid token, as an operation without the usual authentication needs it; null when it has ended. */
export async function findLiveRun(db: Reader, id: string, now: number): Promise<CallingRunRow | null> {
  const run = await findCallingRun(db, id);
  return run && findEnd(run, run.fence, now) === null ? run : null;
}

/**
 * Returns the function that resolves a run token and the proof of the proxy to the calling run; null for another kind of
 * token. Throws a 401 that says why a run token is not valid.
 */
export function createRunAuthenticator(parts: {
  database: { read: Reader };
  runTokens: RunTokens;
  clock: Clock;
}): (token: string, proof: string | undefined) => Promise<Caller | null> {
  const { database, runTokens, clock } = parts;
  return async (token, proof) => {
    const attempt = runTokens.parse(token);
    if (!attempt && proof !== undefined)
      throw unauthorized(
        'The app of a run can use its run token alone, not a key. Send the value of NEXTMV_API_KEY as the bearer token.',
      );
    if (!attempt) return null;
    const run = await findCallingRun(database.read, attempt.id);
    const end = findEnd(run, attempt.fence, clock.now());
    if (!run || end !== null)
      throw unauthorized(`The run token of the run ${attempt.id} has ended: ${end}. Use a key instead.`);
    const endpoint = runTokens.verifyProof(proof, attempt);
    if (endpoint === null)
      throw unauthorized(
        `The run token of the run ${attempt.id} works only inside this run, at the address in NEXTMV_ENDPOINT. Use a key instead.`,
      );
    const applications: ApplicationId[] = JSON.parse(run.api_access ?? '[]');
    return {
      account: run.account_id,
      key: run.key,
      name: `run ${run.id}`,
      role: 'operator',
      email: run.user_email,
      owner: run.owner,
      session: null,
      run: {
        id: run.id,
        applicationId: run.application_id,
        fence: run.fence,
        name: run.name || run.application_id,
        depth: run.workflow_depth,
        applications,
        endpoint,
      },
    };
  };
}
