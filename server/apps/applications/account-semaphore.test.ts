import { expect, test } from 'vitest';
import { AccountSemaphore } from './account-semaphore.ts';

test('two archives of an account are inspected concurrently, the others in order, and no account waits for another', async () => {
  const semaphore = new AccountSemaphore();
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const run = (account: string, name: string): Promise<string> => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return semaphore.run(account, async () => {
      started.push(name);
      await end.promise;
      return name;
    });
  };
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name.slice(0, 1), name).catch(String));
  await expect.poll(() => started).toEqual(['a1', 'a2', 'b1']);
  // Work that fails releases its slot, too.
  ends.get('a2')?.reject(new Error('no archive'));
  await expect.poll(() => started).toEqual(['a1', 'a2', 'b1', 'a3']);
  // Work that arrives while a slot becomes free waits behind earlier work.
  const last = run('a', 'a5');
  ends.get('a1')?.resolve();
  await expect.poll(() => started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  for (const name of ['a3', 'a4', 'b1']) ends.get(name)?.resolve();
  await expect.poll(() => started.at(-1)).toBe('a5');
  ends.get('a5')?.resolve();
  expect(await Promise.all(all)).toEqual(['a1', 'Error: no archive', 'a3', 'a4', 'b1']);
  expect(await last).toBe('a5');
});
