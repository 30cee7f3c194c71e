/** Sign-in with the browser, against a server whose person decides by the API. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-login-'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a program for `BROWSER` that decides about the code of the address, and stores the address. */
function writeBrowser(decision: 'approve' | 'deny'): string {
  const path = join(folder, decision);
  writeFileSync(
    path,
    `#!/usr/bin/env bash
printf %s "$1" > '${path}.url'
exec curl -sS -o /dev/null -H 'Authorization: Bearer ${server.token}' -H 'Content-Type: application/json' \\
  -d "{\\"user_code\\": \\"\${1##*=}\\"}" '${server.url}/v1/account/device-authorizations/${decision}'
`,
  );
  chmodSync(path, 0o755);
  return path;
}

const env = { SWITCHYARD_CONFIG: join(folder, 'config'), PATH: process.env.PATH ?? '' };
const run = (args: string[], more: Record<string, string> = {}) =>
  runCommand(args, { cwd: folder, env: { ...env, ...more } });

test('login opens the browser, saves the key that was approved, and logout revokes it', async () => {
  const browser = writeBrowser('approve');
  const { code, stdout, stderr } = await run(['login', '--url', server.url], { BROWSER: browser });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('approve the code') });
  const address = readFileSync(`${browser}.url`, 'utf8');
  expect(stderr).toContain(address);
  expect(stdout).toContain('as profile default');
  const account = JSON.parse((await run(['whoami', '--json'])).stdout);
  expect(account.key).toMatchObject({ role: 'root', name: expect.stringMatching(/^switchyard on /) });

  // A second sign-in needs no address, and replaces the profile.
  expect((await run(['login'], { BROWSER: browser })).code).toBe(0);
  expect((await run(['profiles', '--quiet'])).stdout).toBe('default\n');
  const { token } = JSON.parse(readFileSync(join(env.SWITCHYARD_CONFIG, 'profiles.json'), 'utf8')).profiles
    .default;
  expect((await run(['logout', '--revoke'])).code).toBe(0);
  expect((await server.request('GET', '/v1/account', { token })).status).toBe(401);
});

test('a denied sign-in saves nothing', async () => {
  const { code, stderr } = await run(['login', '--url', server.url], { BROWSER: writeBrowser('deny') });
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('denied in the console') });
  expect((await run(['profiles', '--quiet'])).stdout).toBe('');
});

test('--no-browser starts no program, and an interrupted sign-in ends with 130', async () => {
  const stop = new AbortController();
  const browser = writeBrowser('approve');
  rmSync(`${browser}.url`, { force: true });
  const { code } = await runCommand(['login', '--url', server.url, '--no-browser'], {
    cwd: folder,
    env: { ...env, BROWSER: browser },
    signal: stop.signal,
    onError: (text) => text.startsWith('Waiting') && stop.abort(),
  });
  expect(code).toBe(130);
  expect(() => readFileSync(`${browser}.url`)).toThrow('ENOENT');
});

describe('a person who decides by the code', () => {
  const decide = (line: string) =>
    run(line.split(' '), { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token });
  const print = async (line: string) => (await decide(line)).stdout;
  const startSignIn = async () =>
    (await server.client.call('startDeviceAuthorization', { body: { client_name: 'build-7' } })).body;

  test('is found by its code, and approved with a role', async () => {
    const { user_code, device_code } = await startSignIn();
    const found = await print(`devices get ${user_code.toLowerCase()}`);
    expect(found).toMatch(/^program +build-7$/m);
    expect(found).toMatch(/^status +pending$/m);
    expect(await print(`devices approve ${user_code} --role viewer`)).toBe(
      'Approved build-7 with the role viewer.\n',
    );
    const { body: key } = await server.client.call('redeemDeviceAuthorization', { body: { device_code } });
    expect(key.role).toBe('viewer');
    expect((await decide(`devices deny ${user_code}`)).code).toBeGreaterThan(3);
  });

  test('is denied', async () => {
    const { user_code, device_code } = await startSignIn();
    expect(await print(`devices deny ${user_code}`)).toBe('Denied build-7.\n');
    const redeemed = server.client.call('redeemDeviceAuthorization', { body: { device_code } });
    await expect(redeemed).rejects.toMatchObject({ status: 403 });
  });
});
