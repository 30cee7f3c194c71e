/**
 * How often a member may call, whichever of its keys it uses: a bucket that holds `burst` requests and fills at the rate. What makes something
 * without a token is counted by address. Kept in memory, so each server process counts for itself. A refused request has
 * had no effect.
 */
import { isIPv6 } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../clock.ts';
import { tooManyRequests } from '../errors/problem.ts';

export interface RateLimit {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export interface RateDecision {
  isAllowed: boolean;
  remaining: number;
  /** Seconds until one more request is allowed; 0 when it is now. */
  retryAfterSeconds: number;
}

/** For requests that make something without a token: enough for people, too few for whoever wants thousands. */
export const ANONYMOUS_RATE_LIMIT: RateLimit = { perMinute: 6, burst: 10 };

/** Whose bucket an address counts for. With IPv6 one person commonly has 2^64 addresses, so their network counts. */
export function addressBucketKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array.from({ length: missing }, () => '0'), ...last];
  return `${all.slice(0, 4).join(':')}::/64`;
}

const BUCKETS_MAX = 100_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  consume(key: string): RateDecision {
    const now = this.#clock.now();
    const perMs = this.#limit.perMinute / 60_000;
    const bucket = this.#buckets.get(key) ?? { tokens: this.#limit.burst, at: now };
    const filled = Math.min(this.#limit.burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    // The rate per millisecond is rarely exact in binary; a caller who waited as long as told is let in all the same.
    const allowed = filled >= 1 - 1e-9;
    const tokens = allowed ? Math.max(0, filled - 1) : filled;
    // Ordered by the last request: the bucket that goes is the one that has filled for longest.
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(oldest);
    this.#buckets.set(key, { tokens, at: now });
    return {
      isAllowed: allowed,
      remaining: Math.floor(tokens),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / perMs / 1000)),
    };
  }
}

/** A rate limit as callers see it: in the headers of every answer, and as a 429. */
export class HttpRateLimiter {
  readonly #counted: 'member' | 'address';
  readonly #rate: RateLimit;
  readonly #limiter: RateLimiter;

  constructor(counted: 'member' | 'address', rate: RateLimit, clock: Clock) {
    this.#counted = counted;
    this.#rate = rate;
    this.#limiter = new RateLimiter(rate, clock);
  }

  enforce(bucket: string, reply: FastifyReply): void {
    const decision = this.#limiter.consume(bucket);
    const { perMinute } = this.#rate;
    const headers = {
      ratelimit: `"${this.#counted}";r=${decision.remaining};t=${decision.retryAfterSeconds}`,
      'ratelimit-policy': `"${this.#counted}";q=${perMinute};w=60`,
    };
    reply.headers(headers);
    if (decision.isAllowed) return;
    throw tooManyRequests(
      `The ${this.#counted} has made more than ${perMinute} requests a minute; try again in ${decision.retryAfterSeconds} s.`,
      { ...headers, 'retry-after': String(decision.retryAfterSeconds) },
    );
  }
}
