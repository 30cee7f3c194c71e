import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../clock.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { addressBucketKey, RateLimiter } from './rate-limit.ts';

/** A clock that stands still until it is moved. */
function stoppedClock(at = 1_800_000_000_000) {
  const state = { at };
  const clock: Clock = { ...systemClock, now: () => state.at };
  return { clock, move: (ms: number) => (state.at += ms) };
}

describe('the bucket of a key', () => {
  test('holds the burst and fills at the rate', () => {
    const { clock, move } = stoppedClock();
    const limiter = new RateLimiter({ perMinute: 60, burst: 3 }, clock);
    const take = () => limiter.consume('a');
    expect([take(), take(), take()].map((one) => [one.isAllowed, one.remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
    ]);
    expect(take()).toEqual({ isAllowed: false, remaining: 0, retryAfterSeconds: 1 });
    move(999);
    expect(take().isAllowed).toBe(false);
    move(1);
    expect(take()).toEqual({ isAllowed: true, remaining: 0, retryAfterSeconds: 0 });
    move(3_600_000);
    expect(take().remaining).toBe(2);
  });

  test('is its own for every key', () => {
    const limiter = new RateLimiter({ perMinute: 1, burst: 1 }, stoppedClock().clock);
    expect(limiter.consume('a').isAllowed).toBe(true);
    expect(limiter.consume('a').isAllowed).toBe(false);
    expect(limiter.consume('b').isAllowed).toBe(true);
  });

  test('gains nothing by a refusal and loses nothing by a clock put back', () => {
    const { clock, move } = stoppedClock();
    const limiter = new RateLimiter({ perMinute: 60, burst: 1 }, clock);
    limiter.consume('a');
    for (let round = 0; round < 9; round += 1) {
      move(100);
      expect(limiter.consume('a').isAllowed).toBe(false);
    }
    move(100);
    expect(limiter.consume('a').isAllowed).toBe(true);
    move(-60_000);
    expect(limiter.consume('a').isAllowed).toBe(false);
  });

  test('lets in whoever waits as long as told, at any rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 30 }),
        (perMinute, burst, pauses) => {
          const { clock, move } = stoppedClock();
          const limiter = new RateLimiter({ perMinute, burst }, clock);
          for (const pause of pauses) {
            move(pause);
            const decision = limiter.consume('a');
            if (decision.isAllowed) continue;
            move(decision.retryAfterSeconds * 1000);
            expect(limiter.consume('a').isAllowed).toBe(true);
          }
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  test('never lets in more than burst and rate allow', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6000 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 100 }),
        (perMinute, burst, pauses) => {
          const { clock, move } = stoppedClock();
          const limiter = new RateLimiter({ perMinute, burst }, clock);
          let allowed = 0;
          for (const pause of pauses) {
            move(pause);
            if (limiter.consume('a').isAllowed) allowed += 1;
          }
          const passed = pauses.slice(1).reduce((sum, one) => sum + one, 0);
          expect(allowed).toBeLessThanOrEqual(burst + (passed * perMinute) / 60_000 + 1e-6);
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });
});

test('an address of IPv6 counts for its network, one of IPv4 for itself however it is written', () => {
  expect(addressBucketKey('203.0.113.7')).toBe('203.0.113.7');
  expect(addressBucketKey('::ffff:203.0.113.7')).toBe('203.0.113.7');
  const network = '2001:db8:1:2::/64';
  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:2::9%eth0'])
    expect(addressBucketKey(address)).toBe(network);
  expect(addressBucketKey('2001:db8:1:3::1')).not.toBe(network);
  expect(addressBucketKey('::1')).toBe('0:0:0:0::/64');
  expect(addressBucketKey('fe80::1%lo')).toBe('fe80:0:0:0::/64');
});

describe('by HTTP', () => {
  let server: TestServer;
  const { clock, move } = stoppedClock(Date.now());
  beforeAll(async () => {
    server = await startTestServer({ clock, env: { SWITCHYARD_RATE_LIMIT: '60/3' } });
  });
  afterAll(() => server.close());
  const create = (id: string) =>
    server.request('POST', '/v1/applications', { body: { id, name: `Application ${id}` } });

  test('429 beyond the burst says when to come back, and has had no effect', async () => {
    for (const [id, left] of [
      ['a', 2],
      ['b', 1],
      ['c', 0],
    ] as const) {
      const answer = await create(id);
      expectStatus(answer, 201);
      expect(answer.headers.get('ratelimit')).toBe(`"member";r=${left};t=0`);
      expect(answer.headers.get('ratelimit-policy')).toBe('"member";q=60;w=60');
      expect(answer.headers.get('retry-after')).toBeNull();
    }
    const refused = await create('d');
    expectError(refused, 429, '60 requests a minute');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"member";r=0;t=1');
    move(1000);
    expectError(await server.request('GET', '/v1/applications/d'), 404);
    expectError(await create('d'), 429);
    move(1000);
    expectStatus(await create('d'), 201);
  });

  test('what carries no token is not counted, and an unknown token is a 401 however often', async () => {
    for (let round = 0; round < 5; round += 1) {
      expectStatus(await server.request('GET', '/healthz', { token: null }), 200);
      expectError(await server.request('GET', '/v1/account', { token: 'rubbish' }), 401);
    }
  });

  test('V8: a refusal for the role counts, and keys of one member share what it may call', async () => {
    move(60_000);
    const key = async (user_email: string, by?: string) => {
      const body = { name: 'Any name', role: 'viewer', user_email };
      const made = await server.request('POST', '/v1/account/keys', { body, ...(by ? { token: by } : {}) });
      expectStatus(made, 201);
      return (made.body as { token: string }).token;
    };
    const first = await key('ada@example.com');
    const second = await key('Ada@example.com', first);
    const attempt = (token: string) =>
      server.request('POST', '/v1/applications', { token, body: { name: 'Any name' } });
    for (const token of [second, first]) expectError(await attempt(token), 403);
    for (const token of [first, second]) expectError(await attempt(token), 429, 'The member has made more');
    expectStatus(await server.request('GET', '/v1/account'), 200);
  });
});
