/** The certificate of the server: refused pairs, changed files, and the one that the server issues for itself. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPair, type TestPair, writePair } from '../../testing/servers/certificates.ts';
import { type Clock, systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { systemRandom } from '../random.ts';
import { type Certificates, openCertificates } from './certificates.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let folder: string;
let opened: Certificates | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-tls-'));
});
afterEach(() => {
  opened?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the certificates of the settings, on a clock that the test drives. */
async function open(env: Record<string, string>, daysAhead = 0) {
  const lines: { level: string; message: string; fields: object }[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields });
  let next = Promise.withResolvers<() => void>();
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + daysAhead * DAY_MS,
    after(_, callback) {
      next.resolve(callback);
      return () => {};
    },
  };
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const config = readConfig({ SWITCHYARD_DATA: folder, ...env });
  if (config.tls === null) throw new Error('The settings have no TLS.');
  const certificates = await openCertificates(config.tls, { config, clock, random: systemRandom, log });
  opened = certificates;
  return {
    certificates,
    lines,
    /** Runs one check of the files to its end. */
    async check(): Promise<void> {
      const callback = await next.promise;
      next = Promise.withResolvers();
      callback();
      const following = await next.promise;
      next = Promise.withResolvers();
      next.resolve(following);
    },
  };
}

const good = createPair();
const REFUSED: [string, TestPair, string][] = [
  ['a certificate file without a certificate', { ...good, certificate: 'hello' }, 'no certificate in PEM'],
  ['an empty certificate file', { ...good, certificate: '' }, 'no certificate in PEM'],
  ['a key file without a key', { ...good, key: good.certificate }, 'no private key in PEM'],
  [
    'an encrypted key',
    {
      ...good,
      key: createPrivateKey(good.key)
        .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
        .toString(),
    },
    'is encrypted',
  ],
  ['the key of another certificate', { ...good, key: createPair().key }, 'not the key of the certificate'],
  ['an expired certificate', createPair(-20, -1), 'the certificate expired at 20'],
  ['a certificate of the future', createPair(1, 20), 'which is in the future'],
  [
    'a broken intermediate certificate',
    {
      ...good,
      certificate: `${good.certificate}\n-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n`,
    },
    'TLS cannot use the certificate',
  ],
];

describe('a start is refused for', () => {
  test.each(REFUSED)('%s', async (_, pair, words) => {
    const error = await open(writePair(folder, pair)).catch(String);
    expect(error).toMatch(/SWITCHYARD_TLS_(CERT|KEY) is "/);
    expect(error).toContain(words);
  });

  test.each([
    [
      'a missing certificate',
      { SWITCHYARD_TLS_CERT: '/nowhere/cert.pem' },
      'SWITCHYARD_TLS_CERT is "/nowhere/cert.pem", which the server cannot read: ENOENT',
    ],
    [
      'a missing key',
      { SWITCHYARD_TLS_KEY: '/nowhere/key.pem' },
      'SWITCHYARD_TLS_KEY is "/nowhere/key.pem", which the server cannot read: ENOENT',
    ],
    ['a folder', { SWITCHYARD_TLS_CERT: '/' }, 'it is not a file'],
    ['a device without an end', { SWITCHYARD_TLS_KEY: '/dev/zero' }, 'it is not a file'],
  ])('%s, which cannot be read', async (_, env, words) => {
    expect(await open({ ...writePair(folder, good), ...env }).catch(String)).toContain(words);
  });

  test.each([0o644, 0o604, 0o602])('a key that other users have access to, mode %o', async (mode) => {
    expect(await open(writePair(folder, good, mode)).catch(String)).toContain(
      `every user of this machine has access to the private key (mode 0${mode.toString(8)}). Run chmod 600`,
    );
  });
});

describe('while the server runs, the previous pair stays for', () => {
  test.each(REFUSED)('%s', async (_, pair, words) => {
    const { certificates, lines, check } = await open(writePair(folder, good));
    writePair(folder, pair);
    await check();
    // A tool may be about to replace the other file.
    expect(lines).toEqual([]);
    await check();
    await check();
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'TLS certificate not loaded; the server presents the previous one'],
    ]);
    expect(lines[0]?.fields).toEqual({ reason: expect.stringContaining(words) });
    expect(certificates.current.certificate).toBe(good.certificate);
  });
});

test('a replaced pair is loaded once both of its files are there', async () => {
  const { certificates, lines, check } = await open(writePair(folder, good));
  const received: string[] = [];
  certificates.onChange(({ certificate }) => received.push(certificate));
  const next = createPair();
  writePair(folder, { ...next, key: good.key });
  await check();
  expect(certificates.current.certificate).toBe(good.certificate);
  writePair(folder, next);
  await check();
  await check();
  expect([certificates.current.certificate, received]).toEqual([next.certificate, [next.certificate]]);
  expect(lines.map(({ message }) => message)).toEqual(['TLS certificate loaded']);
});

test('a certificate that expires within two weeks is reported once a day', async () => {
  const { lines, check } = await open(writePair(folder, createPair(-1, 13)));
  await check();
  await check();
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'TLS certificate expires soon; replace its files'],
  ]);
});

describe('the certificate that the server issues', () => {
  const SELF_SIGNED = { SWITCHYARD_TLS: 'self-signed' };
  const read = (name: string): string => readFileSync(join(folder, 'tls', name), 'utf8');

  test('is for the names of this machine and the public one, for a year, from its own authority', async () => {
    const { certificates } = await open({
      ...SELF_SIGNED,
      SWITCHYARD_PUBLIC_URL: 'https://switchyard.example.com:8443',
    });
    const certificate = new X509Certificate(certificates.current.certificate);
    const authority = new X509Certificate(read('authority.pem'));
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect([authority.ca, certificate.ca]).toEqual([true, false]);
    for (const name of ['localhost', 'switchyard.example.com'])
      expect(certificate.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1']) expect(certificate.checkIP(address)).toBe(address);
    expect(certificate.checkHost('example.com')).toBeUndefined();
    const days = (certificate.validToDate.getTime() - Date.now()) / DAY_MS;
    expect(days).toBeGreaterThan(396.9);
    expect(days).toBeLessThan(397);
  });

  test('has keys that only the user of the server can read', async () => {
    await open(SELF_SIGNED);
    for (const name of ['authority.key', 'server.key'])
      expect(statSync(join(folder, 'tls', name)).mode & 0o777, name).toBe(0o600);
    expect(statSync(join(folder, 'tls', 'authority.pem')).mode & 0o777).toBe(0o644);
  });

  test('stays the same at the next start', async () => {
    const first = await open(SELF_SIGNED);
    const second = await open(SELF_SIGNED);
    expect(second.certificates.current).toEqual(first.certificates.current);
  });

  test.each<[string, Record<string, string>, number, (pathTo: (name: string) => string) => void]>([
    ['before it expires', {}, 368, () => {}],
    ['for a new name', { SWITCHYARD_PUBLIC_URL: 'https://new.example.com' }, 0, () => {}],
    ['after its key was lost', {}, 0, (pathTo) => rmSync(pathTo('server.key'))],
    ['after its key was open to others', {}, 0, (pathTo) => chmodSync(pathTo('server.key'), 0o644)],
  ])('is issued again %s, by the same authority', async (_, env, daysAhead, change) => {
    const first = await open(SELF_SIGNED);
    const authority = read('authority.pem');
    change((name) => join(folder, 'tls', name));
    const second = await open({ ...SELF_SIGNED, ...env }, daysAhead);
    const renewed = new X509Certificate(second.certificates.current.certificate);
    expect(second.certificates.current.key).not.toBe(first.certificates.current.key);
    expect(read('authority.pem')).toBe(authority);
    expect(renewed.verify(new X509Certificate(authority).publicKey)).toBe(true);
    expect(renewed.validToDate.getTime()).toBeGreaterThan(Date.now() + (daysAhead + 396) * DAY_MS);
  });
});
