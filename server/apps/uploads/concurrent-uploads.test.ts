/** Concurrent requests to one upload URL. */
import type { Upload } from '@switchyard/contract/applications/uploads.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createVersion, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
});
afterAll(() => server.close());

const put = (url: string, body: string) =>
  server.request('PUT', url, { token: null, body, headers: { 'content-type': '' } });

test('an upload URL stores one of two concurrent bodies', async () => {
  const response = await server.request('POST', `/v1/applications/${application}/runs/uploadurl`);
  expectStatus(response, 200);
  const { upload_url } = response.body as Upload;
  const responses = await Promise.all([put(upload_url, 'first'), put(upload_url, 'second')]);
  expect(responses.map((one) => one.status).sort()).toEqual([200, 400]);
});
