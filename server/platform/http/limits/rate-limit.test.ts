import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';
import { REQUEST_BODY_BYTES_MAX, WORKER_BODY_BYTES_MAX } from '@switchyard/contract/limits.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus } from '../../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { createWorkerToken } from '../../../testing/servers/worker-process.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { addressBucketKey, computeBodyCost, RateLimiter, WORKER_RATE_LIMIT } from './rate-limit.ts';

/** Creates a clock that changes only by `advance`. */
function createManualClock(at = 1_800_000_000_000) {
  const state = { at };
  const clock: Clock = { ...systemClock, now: () => state.at };
  return { clock, advance: (ms: number) => (state.at += ms) };
}

describe('the bucket of a caller', () => {
  test('holds the burst and refills at the rate', () => {
    const { clock, advance } = createManualClock();
    const limiter = new RateLimiter({ perMinute: 60, burst: 3 }, clock);
    const consume = () => limiter.consume('a');
    expect(
      [consume(), consume(), consume()].map(({ isAllowed, remaining }) => [isAllowed, remaining]),
    ).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
    ]);
    expect(consume()).toEqual({ isAllowed: false, remaining: 0, retryAfterSeconds: 1 });
    advance(999);
    expect(consume().isAllowed).toBe(false);
    advance(1);
    expect(consume()).toEqual({ isAllowed: true, remaining: 0, retryAfterSeconds: 0 });
    advance(3_600_000);
    expect(consume().remaining).toBe(2);
  });

  test('A10: pays for a large request as for several, and never waits for more than it holds', () => {
    const { clock, advance } = createManualClock();
    const limiter = new RateLimiter({ perMinute: 60, burst: 10 }, clock);
    expect(limiter.consume('a', 4)).toEqual({ isAllowed: true, remaining: 6, retryAfterSeconds: 0 });
    expect(limiter.consume('a', 8)).toEqual({ isAllowed: false, remaining: 6, retryAfterSeconds: 2 });
    advance(2000);
    expect(limiter.consume('a', 8)).toMatchObject({ isAllowed: true, remaining: 0 });
    advance(10_000);
    expect(limiter.consume('a', 1000)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(computeBodyCost(REQUEST_BODY_BYTES_MAX, 'member')).toBe(24);
    expect(computeBodyCost(WORKER_BODY_BYTES_MAX, 'worker')).toBe(4096);
  });

  test('is separate for each key', () => {
    const limiter = new RateLimiter({ perMinute: 1, burst: 1 }, createManualClock().clock);
    expect(limiter.consume('a').isAllowed).toBe(true);
    expect(limiter.consume('a').isAllowed).toBe(false);
    expect(limiter.consume('b').isAllowed).toBe(true);
  });

  test('loses no token by a refusal and gains none when the clock is set back', () => {
    const { clock, advance } = createManualClock();
    const limiter = new RateLimiter({ perMinute: 60, burst: 1 }, clock);
    limiter.consume('a');
    for (let round = 0; round < 9; round += 1) {
      advance(100);
      expect(limiter.consume('a').isAllowed).toBe(false);
    }
    advance(100);
    expect(limiter.consume('a').isAllowed).toBe(true);
    advance(-60_000);
    expect(limiter.consume('a').isAllowed).toBe(false);
  });

  test('admits a caller that waits for Retry-After, at any rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 30 }),
        (perMinute, burst, pauses) => {
          const { clock, advance } = createManualClock();
          const limiter = new RateLimiter({ perMinute, burst }, clock);
          for (const pause of pauses) {
            advance(pause);
            const decision = limiter.consume('a');
            if (decision.isAllowed) continue;
            advance(decision.retryAfterSeconds * 1000);
            expect(limiter.consume('a').isAllowed).toBe(true);
          }
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  test('never admits more requests than the burst and the rate allow', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6000 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 100 }),
        (perMinute, burst, pauses) => {
          const { clock, advance } = createManualClock();
          const limiter = new RateLimiter({ perMinute, burst }, clock);
          let allowed = 0;
          for (const pause of pauses) {
            advance(pause);
            if (limiter.consume('a').isAllowed) allowed += 1;
          }
          const elapsedMs = pauses.slice(1).reduce((sum, pause) => sum + pause, 0);
          expect(allowed).toBeLessThanOrEqual(burst + (elapsedMs * perMinute) / 60_000 + 1e-6);
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });
});

test('an IPv6 address counts for its /64 network, and an IPv4 address for itself in either notation', () => {
  expect(addressBucketKey('203.0.113.7')).toBe('203.0.113.7');
  expect(addressBucketKey('::ffff:203.0.113.7')).toBe('203.0.113.7');
  const network = '2001:db8:1:2::/64';
  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:2::9%eth0'])
    expect(addressBucketKey(address)).toBe(network);
  expect(addressBucketKey('2001:db8:1:3::1')).not.toBe(network);
  expect(addressBucketKey('::1')).toBe('0:0:0:0::/64');
  expect(addressBucketKey('fe80::1%lo')).toBe('fe80:0:0:0::/64');
});

describe('over HTTP', () => {
  let server: TestServer;
  const { clock, advance } = createManualClock(Date.now());
  beforeAll(async () => {
    server = await startTestServer({
      clock,
      env: { SWITCHYARD_RATE_LIMIT: '60/3', SWITCHYARD_TRUSTED_PROXIES: 'loopback' },
    });
  });
  afterAll(() => server.close());
  const create = (id: string) =>
    server.request('POST', '/v1/applications', { body: { id, name: `Application ${id}` } });

  test('A10: a worker token has a rate of its own, and a refused body counts by its bytes', async () => {
    const { token } = await createWorkerToken(server);
    const send = async (bytes: number) => {
      const body = { junk: 'x'.repeat(bytes) };
      const response = await server.request('POST', '/v1/workers', { token, body });
      expectStatus(response, 400);
      expect(response.headers.get('ratelimit-policy')).toBe(
        `"worker token";q=${WORKER_RATE_LIMIT.perMinute};w=60`,
      );
      return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    };
    expect(await send(1)).toBe(WORKER_RATE_LIMIT.burst - 1);
    expect(await send(200_000)).toBe(WORKER_RATE_LIMIT.burst - 50);
    advance(60_000);
  });

  test('a request beyond the burst gets 429 with Retry-After and has no effect', async () => {
    for (const [id, remaining] of [
      ['a', 2],
      ['b', 1],
      ['c', 0],
    ] as const) {
      const response = await create(id);
      expectStatus(response, 201);
      expect(response.headers.get('ratelimit')).toBe(`"member";r=${remaining};t=0`);
      expect(response.headers.get('ratelimit-policy')).toBe('"member";q=60;w=60');
      expect(response.headers.get('retry-after')).toBeNull();
    }
    const refused = await create('d');
    expectError(refused, 429, '60 requests a minute');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"member";r=0;t=1');
    advance(1000);
    expectError(await server.request('GET', '/v1/applications/d'), 404);
    expectError(await create('d'), 429);
    advance(1000);
    expectStatus(await create('d'), 201);
  });

  test('requests without a token that create nothing do not count, and each unknown token gets 401', async () => {
    for (let round = 0; round < 5; round += 1) {
      expectStatus(await server.request('GET', '/healthz', { token: null }), 200);
      expectError(await server.request('GET', '/v1/account', { token: 'rubbish' }), 401);
    }
  });

  describe('A3: anonymous requests', () => {
    const post = (path: string, body: object, from: string) =>
      server.request('POST', path, {
        token: null,
        body,
        headers: { 'x-forwarded-for': from, [CONSOLE_HEADER]: '1', origin: server.url },
      });
    const exhaust = async (path: string, body: object, from: string): Promise<number> => {
      for (let count = 1; count < 30; count += 1)
        if ((await post(path, body, from)).status === 429) return count;
      return Number.POSITIVE_INFINITY;
    };
    const createTicket = async (): Promise<string> => {
      advance(60_000);
      const { body } = await server.client.call('createSignInLink');
      return new URL(body.url).searchParams.get('ticket') ?? '';
    };
    const SESSIONS = '/v1/account/sessions';
    const INVITES = '/v1/account/invites/accept';

    test('have a bucket for each operation, and a valid ticket signs in when that of sign-in is empty', async () => {
      expect(await exhaust(INVITES, { invite: 'none' }, '198.51.100.1')).toBe(11);
      expectError(await post(SESSIONS, { ticket: 'none' }, '198.51.100.1'), 401);
      expect(await exhaust(SESSIONS, { ticket: 'none' }, '198.51.100.1')).toBe(10);
      const [first, second] = [await createTicket(), await createTicket()];
      expect(await exhaust(SESSIONS, { ticket: 'none' }, '198.51.100.1')).toBeLessThan(30);
      expectStatus(await post(SESSIONS, { ticket: first }, '198.51.100.1'), 201);
      expectStatus(await post(SESSIONS, { ticket: second }, '198.51.100.1'), 201);
      expectError(await post(SESSIONS, { ticket: first }, '198.51.100.1'), 429);
    });

    test('count for the last address that no trusted proxy has', async () => {
      expect(await exhaust(INVITES, { invite: 'none' }, '198.51.100.2')).toBe(11);
      expectError(await post(INVITES, { invite: 'none' }, '203.0.113.1, 198.51.100.2, 127.0.0.5'), 429);
      expect((await post(INVITES, { invite: 'none' }, '198.51.100.2, 198.51.100.3')).status).not.toBe(429);
    });
  });

  test('V8: a request that the role forbids counts, and the keys of one member share its limit', async () => {
    advance(60_000);
    const createKey = async (user_email: string, token?: string) => {
      const body = { name: 'Any name', role: 'viewer', user_email };
      const created = await server.request('POST', '/v1/account/keys', { body, ...(token ? { token } : {}) });
      expectStatus(created, 201);
      return (created.body as { token: string }).token;
    };
    const first = await createKey('ada@example.com');
    const second = await createKey('Ada@example.com', first);
    const attempt = (token: string) =>
      server.request('POST', '/v1/applications', { token, body: { name: 'Any name' } });
    for (const token of [second, first]) expectError(await attempt(token), 403);
    for (const token of [first, second]) expectError(await attempt(token), 429, 'The member has made more');
    expectStatus(await server.request('GET', '/v1/account'), 200);
  });
});
