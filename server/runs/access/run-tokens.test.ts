/** The rate of run tokens, which the server counts before it asks its database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { createRunAuthenticator, RunTokens } from './run-tokens.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await openTestDatabase();
});
afterAll(() => testDatabase.close());

test('A7: a run token has half of the rate of a member, and outside of its run a rate of its own', async () => {
  const runTokens = new RunTokens(Buffer.alloc(32, 1));
  const authenticate = createRunAuthenticator({
    ...{ database: testDatabase.database, runTokens, rateLimit: { perMinute: 60, burst: 20 } },
    clock: { ...systemClock, now: () => 1_000_000 },
  });
  const attempt = { id: 'run-1' as never, fence: 1 };
  const proof = runTokens.prove(attempt, 'http://127.0.0.1:4747');
  const send = (received: string | undefined, id = 'run-1'): Promise<string> =>
    authenticate(runTokens.sign({ ...attempt, id: id as never }), received).then(
      String,
      ({ message }) => message,
    );
  const repeat = async (received: string | undefined): Promise<string[]> => {
    const messages: string[] = [];
    for (let n = 0; n < 11; n += 1) messages.push(await send(received));
    return messages;
  };
  const refusal =
    'The app of the run run-1 has made more than 30 requests a minute, half of what its member may make; try again in 2 s.';
  for (const received of [undefined, proof]) {
    const messages = await repeat(received);
    for (const message of messages.slice(0, 10)) expect(message).toContain('the run was deleted');
    expect(messages[10]).toBe(refusal);
  }
  expect(await send(undefined, 'run-2')).toContain('the run was deleted');
});
