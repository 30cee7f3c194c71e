/** The order in which handshakes of TLS begin. */
import { expect, test } from 'vitest';
import { Accepts } from './accepts.ts';
import { HandshakeQueue } from './handshake-queue.ts';

/** Adds handshakes that do not end by themselves; returns the addresses of those that began and the functions that end them. */
function addHandshakes(queue: HandshakeQueue, addresses: readonly string[]) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  for (const address of addresses)
    queue.add(address, (end) => {
      begun.push(address);
      ends.push(end);
    });
  return { begun, ends };
}

test('A10: addresses take turns, so that hundreds of callers of one keep no other waiting', async () => {
  const { begun } = addHandshakes(new HandshakeQueue(), ['flood', 'flood', 'flood', 'other', 'third']);
  await expect.poll(() => begun).toEqual(['flood', 'other', 'third', 'flood', 'flood']);
});

test('A10: an address has 8 handshakes under way, and those that never end count for 100 ms', async () => {
  const queue = new HandshakeQueue();
  const times: number[] = [];
  for (let added = 0; added < 40; added += 1) queue.add('flood', () => times.push(performance.now()));
  await expect.poll(() => times.length).toBe(40);
  const waited = (index: number): number => (times[index] ?? 0) - (times[0] ?? 0);
  // A timer may fire a millisecond early.
  expect(waited(8)).toBeGreaterThanOrEqual(99);
});

test('A10: the end of a handshake makes room for another, once', async () => {
  const queue = new HandshakeQueue();
  const first = addHandshakes(queue, Array(9).fill('flood'));
  await expect.poll(() => first.begun.length).toBeGreaterThanOrEqual(8);
  for (const end of [...first.ends, ...first.ends]) end();
  const second = addHandshakes(queue, Array(9).fill('flood'));
  await expect.poll(() => first.begun.length + second.begun.length).toBe(18);
});

test('A10: turns that accept a connection begin no handshake', async () => {
  const accepts = new Accepts(() => 0);
  const { begun } = addHandshakes(new HandshakeQueue(accepts), ['one']);
  for (let turn = 0; turn < 20; turn += 1) {
    accepts.add();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(begun).toEqual([]);
  await expect.poll(() => begun).toEqual(['one']);
});
