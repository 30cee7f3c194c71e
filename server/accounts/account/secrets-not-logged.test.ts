import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Admission } from '@switchyard/contract/account/members.ts';
import { expect, test } from 'vitest';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startServerProcess } from '../../testing/servers/server-process.ts';

test('the log contains no token and no invite, also at level debug', async () => {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-secrecy-'));
  const lines: string[] = [];
  const server = await startServerProcess({
    dataFolder: data,
    env: { SWITCHYARD_LOG_LEVEL: 'debug' },
    onLog: (line) => lines.push(line),
  });
  try {
    const person = { email: 'ada@example.com', role: 'viewer' };
    const invited = await server.request('POST', '/v1/account/members', { body: person });
    const { invite } = invited.body as { invite: string };
    await server.request('GET', `/sign-up?invite=${invite}`, { token: null });
    await server.request('POST', `/v1/account/invites/accept?invite=${invite}`, {
      token: null,
      body: { invite: 'x' },
    });
    const path = '/v1/account/invites/accept';
    const accepted = await server.request('POST', path, { token: null, body: { invite } });
    expectStatus(accepted, 201);
    expectStatus(await server.request('POST', path, { token: null, body: { invite } }), 403);
    const body = { name: 'Any name', email: 'bob@example.com' };
    const created = await server.request('POST', '/v1/accounts', { token: null, body });
    expectStatus(created, 201);
    await server.kill('SIGTERM');
    const log = lines.join('\n');
    expect(log).toContain('acceptInvite');
    const tokens = [accepted, created].map((response) => (response.body as Admission).token);
    for (const secret of [invite, server.token, ...tokens]) expect(log).not.toContain(secret.slice(-20));
  } finally {
    await server.kill();
    rmSync(data, { recursive: true, force: true });
  }
});
