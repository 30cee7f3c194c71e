import { expect, test } from 'vitest';
import { AccountSemaphore } from './account-semaphore.ts';

test('two of an account are at work at once, the others in the order in which they came, and no account waits for another', async () => {
  const turns = new AccountSemaphore();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const take = (account: string, name: string): Promise<string> => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return turns.run(account, async () => {
      begun.push(name);
      await end.promise;
      return name;
    });
  };
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => take(name.slice(0, 1), name).catch(String));
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1']);
  // Work that fails gives its place to the next, too.
  ends.get('a2')?.reject(new Error('no archive'));
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  // One that comes as a place falls free stands behind those who wait.
  const last = take('a', 'a5');
  ends.get('a1')?.resolve();
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  for (const name of ['a3', 'a4', 'b1']) ends.get(name)?.resolve();
  await expect.poll(() => begun.at(-1)).toBe('a5');
  ends.get('a5')?.resolve();
  expect(await Promise.all(all)).toEqual(['a1', 'Error: no archive', 'a3', 'a4', 'b1']);
  expect(await last).toBe('a5');
});
