/** Addresses that webhooks can reach. The IANA registries of special-purpose addresses define the public ones. */
import { describe, expect, test } from 'vitest';
import {
  allowLoopback,
  allowNetworks,
  isPublicAddress,
  resolveAllowedAddress,
  validateWebhookUrl,
} from './addresses.ts';

const NONE = allowNetworks([]);

describe('an address', () => {
  test.each([
    '1.1.1.1',
    '93.184.215.14',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '2606:4700::1111',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    ['0.0.0.0', 'this host'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'link-local, where clouds keep their metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.1', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.168.0.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'loopback, mapped'],
    ['::ffff:10.0.0.1', 'private, mapped'],
    ['::ffff:169.254.169.254', 'link-local, mapped'],
    ['::ffff:0:127.0.0.1', 'translated'],
    ['64:ff9b::7f00:1', 'loopback behind NAT64'],
    ['64:ff9b:1::a00:1', 'local NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', 'loopback in 6to4'],
    ['2002:a00:1::', 'private in 6to4'],
    ['fc00::1', 'unique local'],
    ['fd12:3456::1', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
  ])('%s is not public: %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('a URL of a webhook', () => {
  test.each([
    'https://example.com/hook',
    'http://example.com:8080/a?b=c',
    'https://1.1.1.1/',
    'https://[2606:4700::1111]/',
  ])('%s is valid', (url) => expect(validateWebhookUrl(url, NONE)).toBeNull());

  // Every notation of an address in a URL counts as the address.
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:ffff:7f00:0001]/',
    'http://0/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://10.0.0.1:8080/',
  ])('%s is refused', (url) => expect(validateWebhookUrl(url, NONE)).toContain('not a public address'));

  test.each([
    ['example.com', 'whole http or https URL'],
    ['/hook', 'whole http or https URL'],
    ['', 'whole http or https URL'],
    ['ftp://example.com/', 'begin with http://'],
    ['file:///etc/passwd', 'begin with http://'],
    ['gopher://example.com/', 'begin with http://'],
    ['https://user:pass@example.com/', 'no user and password'],
    ['https://user@example.com/', 'no user and password'],
  ])('%j is refused', (url, error) => expect(validateWebhookUrl(url, NONE)).toContain(error));

  test('can contain addresses that the operator allows, and no other private ones', () => {
    const allows = allowNetworks(['10.1.0.0/16', '192.168.1.5', 'fd00::/8']);
    for (const good of [
      'http://10.1.2.3/',
      'http://192.168.1.5/',
      'http://[fd00::1]/',
      'http://[::ffff:10.1.0.1]/',
    ])
      expect(validateWebhookUrl(good, allows), good).toBeNull();
    for (const bad of ['http://10.2.0.1/', 'http://192.168.1.6/', 'http://127.0.0.1/', 'http://[fe80::1]/'])
      expect(validateWebhookUrl(bad, allows), bad).toContain('not a public address');
    expect(validateWebhookUrl('http://127.0.0.5/', allowLoopback)).toBeNull();
    expect(validateWebhookUrl('http://[::ffff:127.0.0.1]/', allowLoopback)).toBeNull();
    expect(validateWebhookUrl('http://10.0.0.1/', allowLoopback)).toContain('not a public address');
  });
});

describe('a name', () => {
  const url = new URL('https://receiver.example/');

  test('resolves to the first of its addresses', async () => {
    expect(await resolveAllowedAddress(url, NONE, async () => ['1.1.1.1', '2606:4700::1111'])).toBe(
      '1.1.1.1',
    );
  });

  test.each([
    [['127.0.0.1']],
    [['1.1.1.1', '10.0.0.1']],
    [['::ffff:192.168.0.1']],
    [['1.1.1.1', 'not an address']],
  ])('that resolves to %j is refused', async (addresses) => {
    await expect(resolveAllowedAddress(url, NONE, async () => addresses)).rejects.toThrow(
      'not a public address',
    );
  });

  test('without an address is refused', async () => {
    await expect(resolveAllowedAddress(url, NONE, async () => [])).rejects.toThrow('has no address');
  });
});
