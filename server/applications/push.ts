/**
 * A push: the archive that was uploaded last is checked as a whole and becomes the active executable, which `latest`
 * runs from then on. Nothing of a refused archive is kept.
 */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import type { ExecutableId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import {
  describeForeignProgram,
  describeRuntimeMismatch,
  InvalidArchiveError,
  inspectArchive,
} from '@switchyard/runner';
import { ContentRemovedError, type SharedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Writer } from '../database/database.ts';
import { badRequest } from '../http/errors/problem.ts';
import type { Context } from '../http/handlers/context.ts';
import { makeId } from '../random.ts';
import { AccountSemaphore } from './account-semaphore.ts';
import { insertExecutable } from './executables-store.ts';
import { completeRequirements } from './manifest.ts';
import { readManifest } from './read-manifest.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';
import { lockApplication, updateApplication } from './store.ts';

export interface PushRequest {
  application: ApplicationsTable;
  uploadId: UploadId | null;
  requirements: Requirements;
  email: string;
}

/** A checked archive, ready to become the active executable. */
export interface PreparedPush {
  application: ApplicationsTable;
  executable: ExecutablesTable;
  content: SharedContent;
  /** How this server differs from what the executable requires. */
  warnings: string[];
}

const archiveInspections = new AccountSemaphore();

/** Checks the archive that was uploaded; throws the 400 that says what is wrong with it. Writes nothing. */
export async function preparePush(
  { uploads, clock, random, host }: Pick<Context, 'uploads' | 'clock' | 'random' | 'host'>,
  { application, uploadId, requirements, email }: PushRequest,
): Promise<PreparedPush> {
  const content = await uploads.use(application.uid, uploadId, 'executable', 'upload_id');
  const { inspected, read } = await archiveInspections
    .run(application.account_id, () => inspectContent(content, clock))
    .catch(throwRefusal);
  if ('error' in read) throw badRequest(read.error);
  const completed = completeRequirements(requirements, read.manifest);
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
    application_uid: application.uid,
    user_email: email,
    uploaded_at: clock.now(),
    requirements: JSON.stringify(completed.requirements),
    content_id: content.id,
    hash: inspected.hash,
    unused_since: null,
    archive_removed_at: null,
  };
  return { application, executable, content, warnings: warning ? [warning] : [] };
}

/** Stores the executable and makes it the active one; throws the 400 or 404 for what was deleted since it was checked. */
export async function insertPush(
  tx: Writer,
  { application, executable, content }: PreparedPush,
): Promise<void> {
  await lockApplication(tx, application);
  await content.insert(tx).catch(throwRefusal);
  await insertExecutable(tx, executable);
  await updateApplication(tx, application.uid, {
    active_executable_id: executable.id,
    updated_at: executable.uploaded_at,
  });
}

function throwRefusal(error: unknown): never {
  if (error instanceof InvalidArchiveError) throw badRequest(error.message);
  if (error instanceof ContentRemovedError)
    throw badRequest('The upload was forgotten meanwhile; ask for an upload URL and PUT the archive there.');
  throw error;
}

async function inspectContent(content: SharedContent, clock: Clock) {
  const inspected = await inspectArchive(await content.open());
  if (inspected.manifestText === undefined)
    throw badRequest('The archive has no app.yaml at its root; a manifest is required.');
  return { inspected, read: await readManifest(inspected.manifestText, clock) };
}
