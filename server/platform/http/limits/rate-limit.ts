/**
 * Rate limit for each key, and for each member over all of its keys: token buckets of `burst` requests that refill at the rate.
 * Requests without a token that create something count by operation and address. Buckets are in memory, so each server
 * process counts for itself. A refused request has no effect.
 */
import { isIPv6 } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../clock.ts';
import { tooManyRequests } from '../errors/problem.ts';
import { readMember } from '../handlers/handler.ts';
import { MEMBER_RESERVE } from './member-share.ts';

/** A refill rate, and the capacity of the bucket in requests. */
export interface RateLimit {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  /** The time of the last request, in milliseconds. */
  at: number;
}

interface RateDecision {
  isAllowed: boolean;
  remaining: number;
  /** Seconds until one more request is allowed; 0 when this one is allowed. */
  retryAfterSeconds: number;
}

/** For requests of one operation without a token that create something: enough for people, too few to create thousands. */
export const ANONYMOUS_RATE_LIMIT: RateLimit = { perMinute: 6, burst: 10 };

/** For the requests of all workers with one token. A thousand workers with four runs each write 20 logs a second at most. */
export const WORKER_RATE_LIMIT: RateLimit = { perMinute: 1_500_000, burst: 200_000 };

/** Bytes of a body that count as one more request. */
const MEMBER_UNIT_BYTES = 256 * 1024;
const WORKER_UNIT_BYTES = 4 * 1024;

/** Returns as how many further requests a body counts. */
export function computeBodyCost(bytes: number, caller: 'member' | 'worker'): number {
  return Math.floor(bytes / (caller === 'worker' ? WORKER_UNIT_BYTES : MEMBER_UNIT_BYTES));
}

/**
 * Returns the bucket that an address counts for: an IPv4 address itself, or the /64 network of an IPv6 address. One
 * person commonly has all 2^64 addresses of such a network.
 */
export function addressBucketKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const splitGroups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [splitGroups(head), splitGroups(tail ?? '')];
  const missingGroups = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: missingGroups }, () => '0'), ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

const BUCKETS_MAX = 100_000;

/** The token buckets of one rate limit. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /**
   * Removes `cost` tokens from the bucket of the holder, and refuses the request when it has fewer. The keys of a member have a bucket
   * together too, with a reserve: beyond it a key that has used much has to wait for keys that have used less.
   */
  consume(holder: string, requestCost = 1): RateDecision {
    const member = readMember(holder);
    const { perMinute, burst } = this.#limit;
    const cost = Math.min(requestCost, burst);
    const tokens = this.#refill(holder, 1);
    const ofMember = member === holder ? tokens : this.#refill(member, 1 + MEMBER_RESERVE);
    const isPlenty = member === holder || ofMember - burst * MEMBER_RESERVE >= cost - ROUNDING;
    const isAllowed =
      tokens >= cost - ROUNDING && (isPlenty || burst - tokens + cost <= ofMember - cost + ROUNDING);
    const left = isAllowed ? Math.max(0, tokens - cost) : tokens;
    this.#store(holder, left);
    if (member !== holder) this.#store(member, isAllowed ? Math.max(0, ofMember - cost) : ofMember);
    return {
      isAllowed,
      remaining: Math.floor(left),
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil((cost - left) / (perMinute / 60))),
    };
  }

  /** Returns the tokens of a bucket now; `factor` is its size and its rate in those of a key. */
  #refill(name: string, factor: number): number {
    const now = this.#clock.now();
    const size = this.#limit.burst * factor;
    const bucket = this.#buckets.get(name) ?? { tokens: size, at: now };
    const refilled = (Math.max(0, now - bucket.at) * this.#limit.perMinute * factor) / 60_000;
    return Math.min(size, bucket.tokens + refilled);
  }

  #store(name: string, tokens: number): void {
    // Deleted and set again, so that the map is ordered by the last request and the fullest bucket is evicted.
    this.#buckets.delete(name);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(oldest);
    this.#buckets.set(name, { tokens, at: this.#clock.now() });
  }
}

/** The rate per millisecond is rarely exact in binary. The tolerance admits a caller that waits for Retry-After. */
const ROUNDING = 1e-9;

/** The callers that a limit counts, for headers and messages. */
type RateSubject = 'member' | 'address' | 'worker token';

/** A rate limit over HTTP: reported in the headers of every response, and enforced with a 429. */
export class HttpRateLimiter {
  readonly #subject: RateSubject;
  readonly #limit: RateLimit;
  readonly #limiter: RateLimiter;

  /** `subject` names the callers that the limit counts, for headers and messages. */
  constructor(subject: RateSubject, limit: RateLimit, clock: Clock) {
    this.#subject = subject;
    this.#limit = limit;
    this.#limiter = new RateLimiter(limit, clock);
  }

  /** Counts a request of `key` as `cost` requests and sets the headers of the rate limit; throws the 429 when the bucket is empty. */
  enforce(key: string, reply: FastifyReply, cost = 1): void {
    const decision = this.#limiter.consume(key, cost);
    const { perMinute } = this.#limit;
    const headers = {
      ratelimit: `"${this.#subject}";r=${decision.remaining};t=${decision.retryAfterSeconds}`,
      'ratelimit-policy': `"${this.#subject}";q=${perMinute};w=60`,
    };
    reply.headers(headers);
    if (decision.isAllowed) return;
    throw tooManyRequests(
      `The ${this.#subject} has made more than ${perMinute} requests a minute; try again in ${decision.retryAfterSeconds} s.`,
      { ...headers, 'retry-after': String(decision.retryAfterSeconds) },
    );
  }
}
