/** Resources for tests, made through the API, and the questions tests ask of them. */
import { expect } from 'vitest';
import { nodeApp, packFiles, pushArchive } from './apps.ts';
import type { Answer, TestServer } from './server.ts';

export const MANIFEST = 'type: node\nruntime: node\nfiles: ["**"]\n';

let made = 0;
/** An id no other test of this process has taken. */
export function freshId(noun: string): string {
  made += 1;
  return `${noun}-${made}`;
}

/** A new application without an executable. */
export async function freshApplication(server: TestServer, body: object = {}): Promise<string> {
  const id = freshId('app');
  await server.client.call('createApplication', { body: { id, name: `Application ${id}`, ...body } });
  return id;
}

/** A new application with an executable that echoes its input, and a version `v1` of it. */
export async function freshVersion(server: TestServer): Promise<string> {
  const application = await freshApplication(server);
  const archive = await packFiles({ 'app.yaml': MANIFEST, ...nodeApp('(input) => input') });
  expectStatus(await pushArchive(server, application, archive), 200);
  await server.client.call('createVersion', {
    params: { application_id: application },
    body: { id: 'v1', name: 'Version one' },
  });
  return application;
}

/** The same with an instance `i1` of that version. */
export async function freshInstance(server: TestServer): Promise<string> {
  const application = await freshVersion(server);
  await server.client.call('createInstance', {
    params: { application_id: application },
    body: { id: 'i1', name: 'Instance one', version_id: 'v1' },
  });
  return application;
}

export function expectStatus(answer: Answer, status: number): void {
  expect(answer.status, answer.text).toBe(status);
}

/** That the answer is the error of the status, in the shape the specification gives it, with the words in its sentence. */
export function expectError(
  answer: Answer,
  status: 400 | 401 | 403 | 404 | 416 | 429,
  ...words: string[]
): void {
  expectStatus(answer, status);
  const names = {
    400: 'Bad Request',
    404: 'Not Found',
    416: 'Range Not Satisfiable',
    429: 'Busy',
    401: '',
    403: '',
  };
  const sentence = expect.any(String);
  expect(answer.body).toEqual(
    status === 401 || status === 403 ? { message: sentence } : { status: names[status], error: sentence },
  );
  for (const word of words) expect(answer.text).toContain(JSON.stringify(word).slice(1, -1));
}

/** Follows a list page by page to its end; `between` is called after each page. */
export async function walkPages(
  server: TestServer,
  path: string,
  limit: number,
  between: (page: number) => Promise<void> = async () => {},
): Promise<string[][]> {
  const pages: string[][] = [];
  let token: string | undefined = '';
  while (token !== undefined) {
    const query: URLSearchParams = new URLSearchParams({ pagereturn: 'true', limit: String(limit) });
    if (token !== '') query.set('pagetoken', token);
    const answer = await server.ask('GET', `${path}?${query.toString()}`);
    expectStatus(answer, 200);
    const body = answer.body as { items: { id: string }[]; next_page_token?: string };
    pages.push(body.items.map((item) => item.id));
    token = body.next_page_token;
    await between(pages.length);
  }
  return pages;
}

/** Uploads content for runs of the application; answers the upload's id. */
export async function uploadContent(
  server: TestServer,
  application: string,
  content: string | Uint8Array,
): Promise<string> {
  const { body } = await server.client.call('createRunUpload', { params: { application_id: application } });
  const put = await fetch(body.upload_url, {
    method: 'PUT',
    body: typeof content === 'string' ? content : new Uint8Array(content),
  });
  expect(put.status, await put.text()).toBe(200);
  return body.upload_id;
}
