/**
 * Pushes a decision app to a server through the public API: `npm run push -- <folder> [application id]`. The server is
 * `SWITCHYARD_URL`. The token is `SWITCHYARD_TOKEN`, or that of a server in this folder in `data/root-token`. The
 * self-signed certificate of a server in this folder is trusted.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ApiError, type Client, createClient } from '@switchyard/contract/client.ts';
import type { ReportLine } from './build.ts';
import { packApp } from './pack.ts';
import { fetchTarget } from './target.ts';

export interface PushResult {
  files: number;
  bytes: number;
  /** Warnings of the server about the executable, such as a runtime that it has in another version. */
  warnings: string[];
}

/**
 * Packs the folder for the server's host and activates it as the executable of the application. Creates a missing
 * application. The function `reach` maps an upload address of the server to one that this machine can reach, and `report`
 * receives progress lines. Throws when the upload fails.
 */
export async function pushApp(
  client: Client,
  folder: string,
  application: { id: string; name: string; description?: string },
  { reach = (url) => url, report = () => {} }: { reach?: (url: string) => string; report?: ReportLine } = {},
): Promise<PushResult> {
  const { archive, files, manifest } = await packApp(folder, await fetchTarget(client), report);
  const params = { application_id: application.id };
  if (!(await applicationExists(client, application.id)))
    await client.call('createApplication', { body: application });
  const upload = await client.call('getBinaryUpload', { params });
  const put = await fetch(reach(upload.body.upload_url), { method: 'PUT', body: archive });
  if (!put.ok) throw new Error(`The upload failed with status ${put.status}: ${await put.text()}`);
  const { body } = await client.call('activateBinary', {
    params,
    body: { requirements: { executable_type: manifest.type, runtime: manifest.runtime } },
  });
  return { files: files.length, bytes: archive.size, warnings: body.warnings ?? [] };
}

/** Returns whether the application exists. */
export async function applicationExists(client: Client, id: string): Promise<boolean> {
  try {
    await client.call('getApplication', { params: { application_id: id } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** Codes of TLS for a chain that ends at an authority which this machine does not know. */
const UNTRUSTED_CODES = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** Formats an error for the terminal. `fetch` reports only that it failed; its cause names the reason. */
export function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error.message !== 'fetch failed' || !(cause instanceof Error)) return error.message;
  const code = 'code' in cause ? String(cause.code) : '';
  if (UNTRUSTED_CODES.has(code))
    return `The certificate of the server is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the certificate of its authority; for a self-signed server that is tls/authority.pem in its data folder.`;
  return `The server cannot be reached: ${cause.message || code}.`;
}

/** Returns a client for the server that the environment names. */
function createClientFromEnvironment(env: Record<string, string | undefined> = process.env): Client {
  const data = env.SWITCHYARD_DATA || 'data';
  const authority = resolve(data, 'tls', 'authority.pem');
  const isSecure = existsSync(authority);
  const url = env.SWITCHYARD_URL || `${isSecure ? 'https' : 'http'}://127.0.0.1:8080`;
  if (isSecure && url.startsWith('https:'))
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority, 'utf8')]);
  if (env.SWITCHYARD_TOKEN) return createClient({ url, token: env.SWITCHYARD_TOKEN });
  const path = resolve(data, 'root-token');
  if (!existsSync(path))
    throw new Error(`SWITCHYARD_TOKEN is not set and there is no ${path}; one of them must give the token.`);
  return createClient({ url, token: readFileSync(path, 'utf8').trim() });
}

function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

if (import.meta.main) {
  const [folder, id] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('Usage: npm run push -- <folder of the app> [application id]\n');
    process.exit(2);
  }
  const name = id ?? basename(resolve(folder));
  try {
    const report = (line: string): boolean => process.stdout.write(`${line}\n`);
    const pushed = await pushApp(createClientFromEnvironment(), folder, { id: name, name }, { report });
    for (const warning of pushed.warnings) process.stdout.write(`Warning: ${warning}\n`);
    process.stdout.write(
      `Pushed ${pushed.files} files (${formatSize(pushed.bytes)}) to application ${name}; instance latest runs them now.\n`,
    );
  } catch (error) {
    process.stderr.write(`${formatError(error)}\n`);
    process.exit(1);
  }
}
