/**
 * Run tokens: each attempt of a run whose instance has `api_access` gets one. No row stores it. It names the run and the
 * fencing token of the attempt, with an HMAC over both, and is valid while the run is running under that fencing token. So
 * it ends with the attempt: at the end of the run, when a cancel is requested, and when the run is requeued. It also ends when
 * the key that started the run is revoked, and when its member is removed or gets a role that may not start runs.
 *
 * A run token alone opens nothing. The server's proxy, through which the app reaches the server, adds a proof to each
 * request. A token that leaves the run is therefore useless elsewhere, also while the run lasts. The other way round, a
 * request with a proof needs the run token: with a key in its files, an app without network could send its data to another
 * account.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { computeDurationLimit } from '@switchyard/contract/execution-classes.ts';
import { canGrant, type Role } from '@switchyard/contract/roles.ts';
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { findMemberByOwner, isRemovedMember } from '../../accounts/account/member-store.ts';
import { normalizeEmail } from '../../accounts/account/schema.ts';
import { findKey } from '../../accounts/account/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { tooManyRequests, unauthorized } from '../../platform/http/errors/problem.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { type RateLimit, RateLimiter } from '../../platform/http/limits/rate-limit.ts';
import { decodeBase64Url } from '../../platform/http/requests/base64url.ts';
import { parseApiAccess } from '../run-columns.ts';
import { isProductionRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';

/** Time after the limit of the execution class, for the grace period of an app that is ended. */
const EXPIRY_MARGIN_MS = 60_000;
/** The role of an app that calls the API. */
const RUN_ROLE: Role = 'operator';
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

/** Returns the run with the state of the member who started it; undefined when it does not exist. */
async function findCallingRun(db: Reader, id: string) {
  const run = await db
    .selectFrom('runs')
    .select((eb) => [
      ...(['id', 'account_id', 'application_id', 'name', 'user_email', 'status', 'fence'] as const),
      'created_by_key',
      ...([
        'cancel_requested_at',
        'initiated_at',
        'execution_class',
        'max_duration',
        'api_access',
        'workflow_depth',
      ] as const),
      ...(['experiment_id', 'experiment_type', 'child_of_experiment'] as const),
      eb.ref('id').$castTo<KeyId>().as('key'),
    ])
    .where((eb) => eb(eb.ref('id').$castTo<string>(), '=', id))
    .executeTakeFirst();
  if (!run) return undefined;
  const owner = normalizeEmail(run.user_email);
  // A service has no member, and keeps the rights of its key.
  const member = await findMemberByOwner(db, run.account_id, owner);
  const isOwnerRemoved = await isRemovedMember(db, run.account_id, owner);
  const isKeyRevoked = run.created_by_key !== null && !(await findKey(db, run.created_by_key));
  return { ...run, owner, ownerRole: member?.role ?? null, isOwnerRemoved, isKeyRevoked };
}

type CallingRunRow = NonNullable<Awaited<ReturnType<typeof findCallingRun>>>;

/** Returns the sentence that says why the token of the attempt is not valid any more; null while it is. */
function findEnd(run: CallingRunRow | undefined, fence: number, now: number): string | null {
  if (!run) return 'the run was deleted';
  if (run.status !== 'running') return `the run is ${run.status}`;
  if (run.fence !== fence) return 'the run was started again, and the new attempt has another token';
  if (run.cancel_requested_at !== null) return 'a cancel of the run was requested';
  const expiresAt = (run.initiated_at ?? 0) + computeDurationLimit(run) + EXPIRY_MARGIN_MS;
  if (expiresAt <= now) return 'the run has lasted longer than it may';
  // The keys of a removed member end at once, and a run of theirs can last for hours.
  if (run.isOwnerRemoved) return `the member ${run.user_email} was removed from the account`;
  if (run.ownerRole !== null && !canGrant(run.ownerRole, RUN_ROLE))
    return `the member ${run.user_email} has the role ${run.ownerRole} now`;
  if (run.isKeyRevoked) return 'the key that started the run was revoked';
  return run.api_access === null ? 'the run has no access to the API' : null;
}

/** Finds the run of a valid token, as an operation without the usual authentication needs it; null when it has ended. */
export async function findLiveRun(db: Reader, id: string, now: number): Promise<CallingRunRow | null> {
  const run = await findCallingRun(db, id);
  return run && findEnd(run, run.fence, now) === null ? run : null;
}

/** Returns the function that throws the 429 when a run exceeds half of the rate of a member. */
function createRunRateLimit(memberLimit: RateLimit, clock: Clock) {
  const perMinute = Math.ceil(memberLimit.perMinute / 2);
  const limiter = new RateLimiter({ perMinute, burst: Math.ceil(memberLimit.burst / 2) }, clock);
  return (run: string, isOutside: boolean): void => {
    const { isAllowed, retryAfterSeconds } = limiter.consume(isOutside ? `outside ${run}` : run);
    if (isAllowed) return;
    throw tooManyRequests(
      `The app of the run ${run} has made more than ${perMinute} requests a minute, half of what its member may make; try again in ${retryAfterSeconds} s.`,
      { 'retry-after': String(retryAfterSeconds) },
    );
  };
}

/**
 * Returns the function that resolves a run token and the proof of the proxy to the calling run; null for another kind of
 * token. Throws a 401 that says why a run token is not valid, and a 429 when the run has sent too many requests.
 */
export function createRunAuthenticator(parts: {
  database: { read: Reader };
  runTokens: RunTokens;
  clock: Clock;
  /** The rate of a member; null turns rate limits off. */
  rateLimit: RateLimit | null;
}): (token: string, proof: string | undefined) => Promise<Caller | null> {
  const { database, runTokens, clock, rateLimit } = parts;
  const limit = rateLimit && createRunRateLimit(rateLimit, clock);
  return async (token, proof) => {
    const attempt = runTokens.parse(token);
    if (!attempt && proof !== undefined)
      throw unauthorized(
        'The app of a run can use its run token alone, not a key. Send the value of NEXTMV_API_KEY as the bearer token.',
      );
    if (!attempt) return null;
    const endpoint = runTokens.verifyProof(proof, attempt);
    // Before the database is asked. A token that has left its run does not use up the rate of the run.
    limit?.(attempt.id, endpoint === null);
    const run = await findCallingRun(database.read, attempt.id);
    const end = findEnd(run, attempt.fence, clock.now());
    if (!run || end !== null)
      throw unauthorized(`The run token of the run ${attempt.id} has ended: ${end}. Use a key instead.`);
    if (endpoint === null)
      throw unauthorized(
        `The run token of the run ${attempt.id} works only inside this run, at the address in NEXTMV_ENDPOINT. Use a key instead.`,
      );
    const applications = parseApiAccess(run) ?? [];
    return {
      account: run.account_id,
      key: run.key,
      name: `run ${run.id}`,
      role: RUN_ROLE,
      email: run.user_email,
      owner: run.owner,
      session: null,
      run: {
        id: run.id,
        applicationId: run.application_id,
        fence: run.fence,
        startedBy: run.created_by_key,
        name: run.name || run.application_id,
        depth: run.workflow_depth,
        isProduction: isProductionRun(run),
        applications,
        endpoint,
      },
    };
  };
}
