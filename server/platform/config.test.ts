import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_VARIABLES, ConfigError, readConfig, readStorageConfig } from './config.ts';

describe('the error for a wrong setting names it', () => {
  test.each([
    ['SWITCHYARD_PORT', 'abc'],
    ['SWITCHYARD_PORT', ' '],
    ['SWITCHYARD_PORT', '65536'],
    ['SWITCHYARD_DATABASE', 'mysql://127.0.0.1/x'],
    ['SWITCHYARD_BLOBS', '/var/blobs'],
    ['SWITCHYARD_BLOBS', 'file://mnt/blobs'],
    ['SWITCHYARD_BLOBS', 'file:///'],
    ['SWITCHYARD_BLOBS', 'file:///mnt/blobs?region=x'],
    ['SWITCHYARD_PUBLIC_URL', 'yard.example'],
    ['SWITCHYARD_PUBLIC_URL', 'https://yard.example/?a=1'],
    ['SWITCHYARD_TLS', 'on'],
    ['SWITCHYARD_TLS_CERT', '/cert.pem'],
    ['SWITCHYARD_TLS_KEY', '/key.pem'],
    ['SWITCHYARD_ROLE', 'boss'],
    ['SWITCHYARD_ROLE', 'worker'],
    ['SWITCHYARD_CAPACITY', '-1'],
    ['SWITCHYARD_CAPACITY', '1,2'],
    ['SWITCHYARD_CAPACITY', '6c9500mb870s=1,6c9500mb870s=2'],
    ['SWITCHYARD_CAPACITY', 'huge=1'],
    ['SWITCHYARD_LABELS', 'gpu,two words'],
    ['SWITCHYARD_LABELS', 'region='],
    ['SWITCHYARD_RESOURCES', '8c'],
    ['SWITCHYARD_LABELS', 'a'.repeat(65)],
    ['SWITCHYARD_CONTAINMENT', 'jail'],
    ['SWITCHYARD_RATE_LIMIT', '5'],
    ['SWITCHYARD_RATE_LIMIT', '0/1'],
    ['SWITCHYARD_RATE_LIMIT', '99999999999999999999/1'],
    ['SWITCHYARD_SIGN_UP', 'yes'],
    ['SWITCHYARD_KEY', 'abc'],
    ['SWITCHYARD_QUEUE_TROUBLE', '60'],
    ['SWITCHYARD_QUEUE_TROUBLE', 'waiting=0'],
    ['SWITCHYARD_QUEUE_TROUBLE', 'waiting=60,waiting=90'],
    ['SWITCHYARD_LOG_LEVEL', 'loud'],
    ['SWITCHYARD_OIDC_CLIENT_ID', 'switchyard'],
    ['SWITCHYARD_OIDC_ISSUER', 'login.example.com'],
    ['SWITCHYARD_OIDC_ISSUER', 'http://login.example.com'],
    ['SWITCHYARD_OIDC_ISSUER', 'https://user:word@login.example.com'],
    ['SWITCHYARD_HSOT', '127.0.0.1'],
  ])('%s="%s"', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} .*\\.$`));
  });
});

describe('the error for a wrong setting of single sign-on names it', () => {
  const correct = {
    SWITCHYARD_OIDC_ISSUER: 'https://login.example.com',
    SWITCHYARD_OIDC_CLIENT_ID: 'switchyard',
    SWITCHYARD_OIDC_DOMAINS: 'example.com, Example.org',
  };

  test.each([
    ['SWITCHYARD_OIDC_CLIENT_ID', ''],
    ['SWITCHYARD_OIDC_DOMAINS', ''],
    ['SWITCHYARD_OIDC_DOMAINS', '*'],
    ['SWITCHYARD_OIDC_DOMAINS', '@example.com'],
    ['SWITCHYARD_OIDC_DOMAINS', 'example.com;example.org'],
    ['SWITCHYARD_OIDC_ROLES', 'planners'],
    ['SWITCHYARD_OIDC_ROLES', 'planners=root'],
    ['SWITCHYARD_OIDC_ROLES', '=viewer'],
    ['SWITCHYARD_OIDC_ROLES', 'a=viewer,a=admin'],
    ['SWITCHYARD_OIDC_SCOPES', 'email'],
    ['SWITCHYARD_OIDC_ACCOUNT', 'Main account'],
  ])('%s="%s"', (name, value) => {
    const read = () => readConfig({ ...correct, [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name} .*\\.$`));
  });

  test('correct settings are read', () => {
    const roles = { SWITCHYARD_OIDC_ROLES: 'planners=operator, cn=staff=admin, *=viewer' };
    expect(readConfig({ ...correct, ...roles }).sso).toEqual({
      issuer: 'https://login.example.com',
      clientId: 'switchyard',
      clientSecret: null,
      cliClientId: null,
      domains: ['example.com', 'example.org'],
      groupRoles: new Map([
        ['planners', 'operator'],
        ['cn=staff', 'admin'],
        ['*', 'viewer'],
      ]),
      groupsClaim: 'groups',
      scopes: 'openid email profile',
      account: null,
    });
    expect(readConfig({}).sso).toBeNull();
  });
});

test.each([
  [{ SWITCHYARD_TLS: 'self-signed', SWITCHYARD_TLS_CERT: '/cert.pem' }, 'SWITCHYARD_TLS is "self-signed"'],
  [
    { SWITCHYARD_TLS: 'self-signed', SWITCHYARD_PUBLIC_URL: 'http://yard.example' },
    'SWITCHYARD_PUBLIC_URL is "http://yard.example"',
  ],
])('TLS has one certificate, and an https address: %o', (env, words) => {
  expect(() => readConfig(env)).toThrow(words);
});

describe('W10: nothing is refused that no part of the process needs', () => {
  const database = { SWITCHYARD_DATABASE: 'postgres://127.0.0.1/yard' };
  const blobs = { SWITCHYARD_BLOBS: 'file:///mnt/blobs' };
  const key = { SWITCHYARD_KEY: Buffer.alloc(32).toString('base64') };

  test.each<[string, Record<string, string>, RegExp | null]>([
    ['server', {}, null],
    ['server', { ...database, ...blobs, ...key }, null],
    ['server', { ...database, ...key }, /SWITCHYARD_BLOBS, the bucket or folder they share/],
    ['server', { ...database, ...blobs }, /SWITCHYARD_KEY, the key they share/],
    ['worker', { ...database, ...blobs, ...key }, null],
    ['worker', { ...blobs, ...key }, /a worker that needs no database with `npm run worker`/],
    ['all', database, null],
  ])('the role %s with %o', (role, env, refusal) => {
    const read = () => readConfig({ SWITCHYARD_ROLE: role, ...env });
    if (refusal === null) expect(read().role).toBe(role);
    else expect(read).toThrow(refusal);
  });

  test('a command reads only the settings of the storage', () => {
    const wrong = { SWITCHYARD_ROLE: 'boss', SWITCHYARD_PORT: 'abc', SWITCHYARD_LOG_LEVEL: 'loud' };
    expect(readStorageConfig({ ...wrong, SWITCHYARD_DATA: '/srv/yard' }).data).toBe('/srv/yard');
    const command = join(import.meta.dirname, '..', 'ops', 'backup', 'restore-command.ts');
    const { stderr } = spawnSync(process.execPath, [command, '/switchyard-no-backup'], {
      env: { PATH: process.env.PATH, ...wrong },
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/^There is no folder \/switchyard-no-backup/);
  });
});

test('capacity has shared slots, slots of classes, or both', () => {
  const readCapacity = (text: string) => readConfig({ SWITCHYARD_CAPACITY: text }).capacity;
  expect(readCapacity('8')).toEqual({ shared: 8, perClass: {} });
  expect(readCapacity('0,6c9500mb870s=4')).toEqual({ shared: 0, perClass: { '6c9500mb870s': 4 } });
  expect(readCapacity('8c16gb12h=1, 2')).toEqual({ shared: 2, perClass: { '8c16gb12h': 1 } });
});

test('resources are those of the allocation, or none', () => {
  const job = { SLURM_JOB_ID: '1', SLURM_CPUS_ON_NODE: '16', SLURM_MEM_PER_NODE: '64000' };
  expect(readConfig(job).resources).toBeNull();
  const { resources } = readConfig({ ...job, SWITCHYARD_RESOURCES: 'allocation' });
  expect(resources).toMatchObject({ cores: 16, memoryBytes: 64_000 * 1024 ** 2 });
});

test('labels are sorted, each of them once', () => {
  expect(readConfig({ SWITCHYARD_LABELS: ' region=eu, gpu,,gpu ' }).labels).toEqual(['gpu', 'region=eu']);
  expect(readConfig({}).labels).toEqual([]);
});

/** Returns the names of all settings, from the message for an unknown one. */
function listSettings(): string[] {
  try {
    readConfig({ SWITCHYARD_HSOT: '127.0.0.1' });
    return [];
  } catch (error) {
    const [, known = ''] = String(error).split('there are ');
    return known.match(/SWITCHYARD_[A-Z_]+/g) ?? [];
  }
}

const PAGES = 'site/content/using-switchyard';

// The settings of single sign-on and of the provisioner are on their own pages.
test.each([
  [['README.md']],
  [['setup/install', 'setup/slurm', 'setup/kubernetes', 'accounts/sso'].map((page) => `${PAGES}/${page}.md`)],
])('the tables of %s have every setting and no other', (paths) => {
  const text = paths
    .map((path) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8'))
    .join('\n');
  const cells = text.split('\n').flatMap((line) => /^\| (`SWITCHYARD_[^|]*)\|/.exec(line)?.[1] ?? []);
  const documented = cells.flatMap((cell) => cell.match(/SWITCHYARD_[A-Z_]+/g) ?? []);
  expect(listSettings().length).toBeGreaterThan(10);
  expect(documented.sort()).toEqual(listSettings().sort());
});

test('the page of the command line has every variable of clients and no other', () => {
  const page = join(import.meta.dirname, '..', '..', PAGES, 'reference', 'cli.md');
  const rows = readFileSync(page, 'utf8').match(/^\| `SWITCHYARD_[^|]*\|/gm) ?? [];
  const documented = rows.flatMap((row) => row.match(/SWITCHYARD_[A-Z_]+/g) ?? []);
  expect(documented.sort()).toEqual([...CLIENT_VARIABLES].sort());
});
