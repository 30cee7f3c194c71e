import { client } from '../../client/client.ts';
import { uploadExecutable } from '../../client/content.ts';
import type { UploadOptions } from '../../client/uploads/upload-content.ts';
import { type FoundFile, packApp } from './pack-app.ts';

/** An app that is the active executable now. */
export interface PushedApp {
  /** Size of the archive. */
  bytes: number;
  /** Number of packed files; undefined for an archive that was chosen as it is. */
  files: number | undefined;
  /** Sentences about what was left out, and about what may be wrong. */
  warnings: readonly string[];
}

/** Packs the files, uploads the archive and activates it. Throws the refusal of the server, which checks the archive. */
export async function pushApp(
  application: string,
  found: readonly FoundFile[],
  options?: UploadOptions,
): Promise<PushedApp> {
  const { archive, head, files, skipped } = await packApp(found);
  const upload_id = await uploadExecutable(application, archive, options);
  const { body } = await client.call('activateBinary', {
    params: { application_id: application },
    body: { requirements: head, upload_id },
  });
  return { bytes: archive.size, files, warnings: [...(skipped ? [skipped] : []), ...(body.warnings ?? [])] };
}
