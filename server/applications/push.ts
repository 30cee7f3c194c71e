/**
 * A push: the archive that was uploaded last is checked as a whole and becomes the active executable, which `latest`
 * runs from then on. Nothing of a refused archive is kept.
 */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import type { ExecutableId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import {
  describeForeignProgram,
  describeRuntimeMismatch,
  type Host,
  InvalidArchiveError,
  inspectArchive,
} from '@switchyard/runner';
import { ContentRemovedError, type SharedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { badRequest } from '../http/errors/problem.ts';
import { makeId, type Random } from '../random.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { AccountSemaphore } from './account-semaphore.ts';
import { insertExecutable } from './executables-store.ts';
import { completeRequirements } from './manifest.ts';
import { readManifest } from './read-manifest.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';
import { lockApplication, updateApplication } from './store.ts';

interface Parts {
  database: Database;
  uploads: Uploads;
  clock: Clock;
  random: Random;
  /** null where no apps run: what is compiled is not compared with it then. */
  host: Host | null;
}

export interface PushRequest {
  application: ApplicationsTable;
  uploadId: UploadId | null;
  requirements: Requirements;
  email: string;
}

export interface PushResult {
  executable: ExecutablesTable;
  /** How this server differs from what the executable asks for. */
  warnings: string[];
}

const turns = new AccountSemaphore();

/** Returns the executable, or throws the 400 that says what is wrong with the archive. */
export async function pushExecutable(parts: Parts, asked: PushRequest): Promise<PushResult> {
  const { database, uploads, clock, random, host } = parts;
  const { uid } = asked.application;
  const content = await uploads.use(uid, asked.uploadId, 'executable', 'upload_id');
  try {
    const { inspected, read } = await turns.run(asked.application.account_id, () => lookAt(content, clock));
    if ('error' in read) throw badRequest(read.error);
    const completed = completeRequirements(asked.requirements, read.manifest);
    if ('error' in completed) throw badRequest(completed.error);
    const { executable_type: type, runtime, entrypoint, working_directory } = completed.requirements;
    const checked = {
      type,
      contents: inspected,
      ...(entrypoint ? { entrypoint } : {}),
      ...(working_directory ? { workingDirectory: working_directory } : {}),
    };
    const foreign = host && describeForeignProgram(checked, host);
    if (foreign) throw badRequest(foreign);
    const warning = host && describeRuntimeMismatch(type, runtime, host);
    const executable: ExecutablesTable = {
      id: makeId<ExecutableId>(random, 'exe'),
      application_uid: uid,
      user_email: asked.email,
      uploaded_at: clock.now(),
      requirements: JSON.stringify(completed.requirements),
      content_id: content.id,
      hash: inspected.hash,
      unused_since: null,
      archive_removed_at: null,
    };
    await database.transact(async (tx) => {
      await lockApplication(tx, asked.application);
      await content.insert(tx);
      await insertExecutable(tx, executable);
      await updateApplication(tx, uid, {
        active_executable_id: executable.id,
        updated_at: executable.uploaded_at,
      });
    });
    return { executable, warnings: warning ? [warning] : [] };
  } catch (error) {
    if (error instanceof InvalidArchiveError) throw badRequest(error.message);
    if (error instanceof ContentRemovedError)
      throw badRequest(
        'The upload was forgotten meanwhile; ask for an upload URL and PUT the archive there.',
      );
    throw error;
  }
}

async function lookAt(content: SharedContent, clock: Clock) {
  const inspected = await inspectArchive(await content.open());
  if (inspected.manifestText === undefined)
    throw badRequest('The archive has no app.yaml at its root; a manifest is required.');
  return { inspected, read: await readManifest(inspected.manifestText, clock) };
}
