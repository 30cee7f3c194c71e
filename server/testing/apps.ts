/** Decision apps for tests: a few files, packed and pushed as anyone does it. */
import { gzipSync } from 'node:zlib';
import type { Requirements } from '@switchyard/contract/executables.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { type Header, pack } from 'tar-stream';
import type { Answer, TestServer } from './server.ts';

export type Files = Record<string, string | Buffer>;

/** A gzip tar of the files; scripts that start with `#!` and programs given as bytes are executable. */
export async function packFiles(files: Files): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) {
    const runs = typeof content !== 'string' || content.startsWith('#!');
    archive.entry({ name, mode: runs ? 0o755 : 0o644 }, content);
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
}

/** What a hostile archive may hold beside files. */
export type Entry = Partial<Header> & { name: string } & { content?: string };

/** A gzip tar of any entries. */
export async function packEntries(entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack();
  for (const { content, ...headers } of entries) archive.entry(headers, content ?? '');
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
}

/** Pushes the bytes in three steps and answers what the activation was answered. */
export async function pushArchive(
  server: TestServer,
  application: string,
  archive: Uint8Array,
  activation: unknown = { requirements: { executable_type: 'node', runtime: 'node' } },
): Promise<Answer> {
  const upload = await server.client.call('getBinaryUpload', { params: { application_id: application } });
  const put = await fetch(upload.body.upload_url, { method: 'PUT', body: new Uint8Array(archive) });
  if (put.status !== 200) throw new Error(`the upload answered ${put.status}: ${await put.text()}`);
  return server.ask('PUT', `/v1/applications/${application}/binary`, { body: activation });
}

/** Makes the application if it is not there, and pushes the files as its active executable. */
export async function pushApp(
  server: Pick<TestServer, 'ask' | 'client'>,
  application: string,
  files: Files,
  requirements: Partial<Requirements> = {},
): Promise<void> {
  const params = { application_id: application };
  const found = await server.ask('GET', `/v1/applications/${application}`);
  if (found.status === 404)
    await server.client.call('createApplication', { body: { id: application, name: `App ${application}` } });
  const upload = await server.client.call('getBinaryUpload', { params });
  const type = requirements.executable_type ?? 'node';
  const archive = await packFiles({
    'app.yaml': `type: ${type}\nruntime: ${type}\nfiles: ["**"]\n`,
    ...files,
  });
  const put = await fetch(upload.body.upload_url, { method: 'PUT', body: new Uint8Array(archive) });
  if (put.status !== 200) throw new Error(`the upload answered ${put.status}: ${await put.text()}`);
  await server.client.call('activateBinary', {
    params,
    body: { requirements: { executable_type: type, runtime: type, ...requirements } },
  });
}

/** A Node app that answers what the function makes of its input: the source of an async `(input, options) => output`. */
export function nodeApp(source: string): Files {
  return {
    'main.mjs': `
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const text = Buffer.concat(chunks).toString();
let input = text;
try { input = JSON.parse(text); } catch {}
const options = {};
for (let at = 2; at < process.argv.length; at += 2) options[process.argv[at].replace(/^-+/, '')] = process.argv[at + 1];
const output = await (${source})(input, options);
if (output !== undefined) process.stdout.write(JSON.stringify(output));
`,
  };
}

export interface RunAsked {
  instance?: string;
  input?: unknown;
  body?: Record<string, unknown>;
}

/** Creates a run and answers its id. */
export async function createRun(
  server: Pick<TestServer, 'ask' | 'client'>,
  application: string,
  asked: RunAsked = {},
): Promise<string> {
  const query = asked.instance === undefined ? '' : `?instance_id=${encodeURIComponent(asked.instance)}`;
  const answer = await server.ask('POST', `/v1/applications/${application}/runs${query}`, {
    body: { ...(asked.input === undefined ? {} : { input: asked.input }), ...asked.body },
  });
  if (answer.status !== 202) throw new Error(`the run answered ${answer.status}: ${answer.text}`);
  return (answer.body as { run_id: string }).run_id;
}

/** Waits until the run has ended and answers it with its output. */
export async function ended(server: TestServer, application: string, run: string) {
  return server.until('runs-ended', async () => {
    const { body } = await server.client.call('getRun', {
      params: { application_id: application, run_id: run },
    });
    return isTerminal(body.status_v2) ? body : null;
  });
}

/** Creates a run and waits for its end. */
export async function runToEnd(server: TestServer, application: string, asked: RunAsked = {}) {
  return ended(server, application, await createRun(server, application, asked));
}

/** Waits until the app of the run has written the line to its log, the signal apps under test give. */
export async function logged(
  server: TestServer,
  application: string,
  run: string,
  line: string,
): Promise<void> {
  const params = { application_id: application, run_id: run };
  await server.until('log-lines', async () => {
    const { body } = await server.client.call('getRunLiveLogs', { params });
    return body.items.some((item) => item.log.includes(line));
  });
}
