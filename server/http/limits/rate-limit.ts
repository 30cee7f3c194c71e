/**
 * Rate limit for each member over all of its keys: a token bucket of `burst` requests that refills at the rate. Requests
 * without a token that create something count by address. Buckets are in memory, so each server process counts for
 * itself. A refused request has no effect.
 */
import { isIPv6 } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../clock.ts';
import { tooManyRequests } from '../errors/problem.ts';

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

/** For requests without a token that create something: enough for people, too few to create thousands. */
export const ANONYMOUS_RATE_LIMIT: RateLimit = { perMinute: 6, burst: 10 };

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

  /** Removes one token from the bucket `key`, and refuses the request when the bucket is empty. */
  consume(key: string): RateDecision {
    const now = this.#clock.now();
    const tokensPerMs = this.#limit.perMinute / 60_000;
    const bucket = this.#buckets.get(key) ?? { tokens: this.#limit.burst, at: now };
    const refilled = Math.min(this.#limit.burst, bucket.tokens + Math.max(0, now - bucket.at) * tokensPerMs);
    // The rate per millisecond is rarely exact in binary. The tolerance admits a caller that waits for Retry-After.
    const isAllowed = refilled >= 1 - 1e-9;
    const tokens = isAllowed ? Math.max(0, refilled - 1) : refilled;
    // Deleted and set again, so that the map is ordered by the last request and the fullest bucket is evicted.
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(oldest);
    this.#buckets.set(key, { tokens, at: now });
    return {
      isAllowed,
      remaining: Math.floor(tokens),
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / tokensPerMs / 1000)),
    };
  }
}

/** A rate limit over HTTP: reported in the headers of every response, and enforced with a 429. */
export class HttpRateLimiter {
  readonly #subject: 'member' | 'address';
  readonly #limit: RateLimit;
  readonly #limiter: RateLimiter;

  /** `subject` names the callers that the limit counts, for headers and messages. */
  constructor(subject: 'member' | 'address', limit: RateLimit, clock: Clock) {
    this.#subject = subject;
    this.#limit = limit;
    this.#limiter = new RateLimiter(limit, clock);
  }

  /** Counts a request of `key` and sets the headers of the rate limit; throws the 429 when the bucket is empty. */
  enforce(key: string, reply: FastifyReply): void {
    const decision = this.#limiter.consume(key);
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
