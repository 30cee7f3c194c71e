/** The commands for webhooks, with a receiver on this machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunAndWait } from '@switchyard/server/testing/fixtures/apps.ts';
import { createInstance } from '@switchyard/server/testing/fixtures/resources.ts';
import { computeSignature, computeStandardSignature } from '@switchyard/server/testing/fixtures/webhooks.ts';
import { startWebhookReceiver } from '@switchyard/server/testing/http/webhook-receiver.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandSettings, runCommand } from '../../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-webhooks-'));
let server: TestServer;
let app: string;
beforeAll(async () => {
  server = await startTestServer();
  app = await createInstance(server);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (more: Partial<CommandSettings> = {}): CommandSettings => ({
  cwd: folder,
  env: { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token },
  ...more,
});
const run = (line: string) => runCommand(line.split(' '), settings());

/** Returns standard output of a command that has to succeed. */
async function print(line: string): Promise<string> {
  const { code, stdout, stderr } = await run(line);
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('webhooks', () => {
  test('are created, tested, sent again and deleted', async () => {
    const receiver = await startWebhookReceiver();
    await print(`webhooks create dispatch --endpoint-url ${receiver.url}`);
    const secret = await print('webhooks secret dispatch');
    expect(secret).toMatch(/^whsec_/);
    const rotated = await run('webhooks rotate-secret dispatch --overlap-hours 2');
    expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining('signs too until') });
    expect(rotated.stdout).not.toBe(secret);
    expect(await print('webhooks secret dispatch')).toBe(rotated.stdout);
    expect(await print('webhooks test')).toContain('dispatch');
    await receiver.until((received) => received.length === 1);
    const id = await server.waitUntil('webhooks-told', async () =>
      (await print('webhooks deliveries dispatch --quiet')).trim(),
    );
    expect(await print('webhooks deliveries dispatch --status succeeded')).toMatch(
      /run\.status +succeeded +200/,
    );
    const delivery = await print(`webhooks delivery dispatch ${id}`);
    expect(delivery).toMatch(/^http status +200$/m);
    expect(delivery).toContain('"event_type": "run.status"');
    await print(`webhooks resend dispatch ${id}`);
    await receiver.until((received) => received.length === 2);
    await print('webhooks delete dispatch --yes');
    expect(await print('webhooks')).toBe('The account has no webhooks.\n');
    await receiver.close();
  });

  test('listen forwards each ended run and each experiment with a valid signature, and leaves no webhook', async () => {
    const receiver = await startWebhookReceiver();
    const stop = new AbortController();
    let secret = '';
    const connected = Promise.withResolvers<void>();
    const printed = Promise.withResolvers<void>();
    const listening = runCommand(
      ['webhooks', 'listen', '--forward', receiver.url],
      settings({
        signal: stop.signal,
        onError: (text) => {
          secret = /whsec_\S+/.exec(text)?.[0] ?? secret;
          if (text.startsWith('Listening')) connected.resolve();
        },
        onOutput: (text) => text.includes('succeeded') && printed.resolve(),
      }),
    );
    await connected.promise;
    const { id } = await createRunAndWait(server, app, { input: { a: 1 } });
    const delivered = await receiver.until((received) =>
      received.find(({ event }) => 'status_v2' in event.data && event.data.status_v2 === 'succeeded'),
    );
    expect(delivered.event).toMatchObject({
      event_type: 'run.status',
      data: { id, application_id: app, status: 'succeeded', statistics: expect.anything() },
    });
    expect(delivered.headers['switchyard-signature']).toContain(`v1=${computeSignature(secret, delivered)}`);
    expect(delivered.headers['webhook-signature']).toBe(computeStandardSignature(secret, delivered));
    await printed.promise;
    // The stream does not name an experiment that ends within two seconds; a shadow test without runs stays.
    const params = { application_id: app };
    for (const instance of ['now', 'next'])
      await server.client.call('createInstance', {
        params,
        body: { id: instance, name: instance, version_id: 'v1' },
      });
    const comparison = { baseline_instance_id: 'now', candidate_instance_id: 'next' };
    const body = { id: 'compared', name: 'Compared', comparison, termination_events: { maximum_runs: 5 } };
    await server.client.call('createShadowTest', { params, body });
    await server.client.call('startShadowTest', { params: { ...params, shadow_id: 'compared' } });
    const started = await receiver.until((received) =>
      received.find(({ event }) => event.event_type === 'experiment.status'),
    );
    expect(started.event.data).toMatchObject({
      id: 'compared',
      application_id: app,
      type: 'shadow',
      name: 'Compared',
    });
    stop.abort();
    const { code, stdout } = await listening;
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`${id} +succeeded +200`));
    expect(await print('webhooks --quiet')).toBe('');
    await receiver.close();
  });
});
