import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { HOSTILE_NAME, HOSTILE_TEXT } from './hostile-output.ts';

/** Publishes the version `v1` of the application with hostile texts, and returns the parameters of its page. */
export async function publishHostileApp(
  server: TestServer,
  app: string,
): Promise<{ partner: string; app: string }> {
  const { id: partner_id } = (await server.client.call('getAccount')).body;
  await server.client.call('createMarketplaceApp', {
    params: { partner_id },
    body: {
      id: app,
      ref_app_id: app,
      title: HOSTILE_NAME,
      description: HOSTILE_TEXT,
      categories: [HOSTILE_NAME],
      features: [HOSTILE_NAME],
    },
  });
  await server.client.call('createMarketplaceVersion', {
    params: { partner_id, marketplace_app_id: app },
    body: { id: 'v1', ref_app_version_id: 'v1', change_log: [HOSTILE_TEXT] },
  });
  return { partner: partner_id, app };
}
