/** Pushes a decision app to a server through the public API. */
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import type { ReportLine } from './build-steps.ts';
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
