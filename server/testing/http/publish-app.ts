/** Published applications of the marketplace. */

import { expectStatus } from '../fixtures/resources.ts';
import type { AccountServer } from '../servers/account-server.ts';

/** An application with the versions to publish; `id` is the id in the marketplace. */
interface Offer {
  id: string;
  application: string;
  title: string;
  versions: readonly string[];
}

/** Publishes and releases the application. Returns the id with which other accounts subscribe to it. */
export async function publishApp(
  publisher: AccountServer,
  { id, application, title, versions }: Offer,
): Promise<string> {
  const apps = `/v1/marketplace/partners/${publisher.accountId}/apps`;
  const app = { id, ref_app_id: application, title };
  expectStatus(await publisher.request('POST', apps, { body: app }), 201);
  for (const version of versions) {
    const body = { id: version, ref_app_version_id: version, change_log: ['A change'] };
    expectStatus(await publisher.request('POST', `${apps}/${id}/versions`, { body }), 201);
  }
  expectStatus(await publisher.request('PUT', `${apps}/${id}`, { body: { state: 'released' } }), 200);
  return `${publisher.accountId}-${id}`;
}
