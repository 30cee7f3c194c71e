/** Pushes a decision app to a server through the public API. */
import type { Client } from '@switchyard/contract/client.ts';
import { findOrNone } from '../errors/find-or-none.ts';
import { type UploadOptions, uploadContent } from '../transfer/upload.ts';
import type { ReportLine } from './build-steps.ts';
import { packApp } from './pack.ts';
import { fetchTarget } from './target.ts';

export interface PushResult {
  files: number;
  bytes: number;
  executable_id: string;
  /** Warnings of the server about the executable, such as a runtime that it has in another version. */
  warnings: string[];
}

type Transfer = <T>(bytes: number, send: (options: UploadOptions) => Promise<T>) => Promise<T>;

interface PushOptions {
  /** Receives progress lines. */
  report?: ReportLine;
  /** Uploads an archive of this size by `send`, with the options that it chooses. */
  transfer?: Transfer;
}

/**
 * Packs the folder for the server's host and activates it as the executable of the application. Creates a missing
 * application. Throws when the upload fails.
 */
export async function pushApp(
  client: Client,
  folder: string,
  application: { id: string; name: string; description?: string },
  { report = () => {}, transfer = (_bytes, send) => send({}) }: PushOptions = {},
): Promise<PushResult> {
  const { archive, files, manifest } = await packApp(folder, await fetchTarget(client), report);
  const params = { application_id: application.id };
  if (!(await applicationExists(client, application.id)))
    await client.call('createApplication', { body: application });
  const upload_id = await transfer(archive.size, (options) =>
    uploadContent(client, { application_id: application.id, operation: 'getBinaryUpload' }, archive, options),
  );
  const { body } = await client.call('activateBinary', {
    params,
    body: {
      requirements: { executable_type: manifest.type, runtime: manifest.runtime },
      upload_id,
    },
  });
  return {
    files: files.length,
    bytes: archive.size,
    executable_id: body.id,
    warnings: body.warnings ?? [],
  };
}

/** Returns whether the application exists. */
export async function applicationExists(client: Client, id: string): Promise<boolean> {
  const params = { application_id: id };
  return (await findOrNone(() => client.call('getApplication', { params }))) !== undefined;
}
