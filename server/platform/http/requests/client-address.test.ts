/** The address of a caller behind proxies: which of the forwarded addresses counts, and that nothing in the header breaks it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createProxyCheck, resolveClientAddress } from './client-address.ts';

const isTrusted = createProxyCheck(['127.0.0.0/8', '::1', '10.0.0.0/8', 'fd00::/8']);

test.each([
  ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
  ['127.0.0.1', undefined, '127.0.0.1'],
  ['127.0.0.1', '', '127.0.0.1'],
  ['127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['127.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['127.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.5', '198.51.100.1'],
  ['127.0.0.1', '1.1.1.1, 10.0.0.5,::ffff:10.0.0.6', '1.1.1.1'],
  ['127.0.0.1', '10.0.0.4, 10.0.0.5', '10.0.0.4'],
  ['127.0.0.1', '198.51.100.1, unknown', '127.0.0.1'],
  ['127.0.0.1', '198.51.100.1, unknown, 10.0.0.5', '10.0.0.5'],
  ['127.0.0.1', 'unknown, 198.51.100.1', '198.51.100.1'],
  ['127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  ['127.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['::1', '2001:db8::1', '2001:db8::1'],
  ['127.0.0.1', `${'127.0.0.1,'.repeat(3000)}127.0.0.1`, '127.0.0.1'],
  ['', '198.51.100.1', ''],
])('A3: from %s with %j the caller is %s', (peer, forwardedFor, address) => {
  expect(resolveClientAddress(peer, forwardedFor, isTrusted)).toBe(address);
});

test('A3: no header makes it throw, and a caller without a proxy cannot choose its address', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.ipV4(), (text, address) => {
      expect(resolveClientAddress('203.0.113.7', `${text},${address}`, isTrusted)).toBe('203.0.113.7');
      const found = resolveClientAddress('127.0.0.1', `${text},198.51.100.9`, isTrusted);
      expect(found).toBe('198.51.100.9');
      expect(typeof resolveClientAddress('127.0.0.1', text, isTrusted)).toBe('string');
    }),
    { seed: 3, numRuns: 500 },
  );
});
