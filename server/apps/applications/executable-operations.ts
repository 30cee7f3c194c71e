/** Operations on the executables of an application: upload an archive, make it the active executable, and read its files. */
import type { ExecutableFileText } from '@switchyard/contract/applications/executables.ts';
import { FILE_TEXT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationId, ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import { findArchiveFile, InvalidArchiveError, listArchiveFiles, MANIFEST } from '@switchyard/runner';
import type { Content } from '../../platform/blobs/contents.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatExecutable, listHiddenOptions } from './executable.ts';
import { findExecutable } from './executables-store.ts';
import { requireOwnFiles, requireOwnProgram } from './own-program.ts';
import { insertPush, preparePush } from './push.ts';
import type { ExecutablesTable } from './schema.ts';
import { getApplication, lockLiveApplication } from './store.ts';

export const getBinaryUpload: OperationHandler<'getBinaryUpload'> = async (
  { database, uploads },
  { caller, params },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  requireOwnProgram(application, 'push one');
  const upload = await uploads.create(application.uid, 'executable', caller.key, (tx) =>
    lockLiveApplication(tx, application),
  );
  return { status: 200, body: upload };
};

export const activateBinary: OperationHandler<'activateBinary'> = async (
  context,
  { caller, params, body, commit },
) => {
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  requireOwnProgram(application, 'push one');
  const push = await preparePush(context, {
    application,
    uploadId: body.upload_id ?? null,
    requirements: body.requirements,
    email: caller.email,
  });
  return commit(async (tx) => {
    await insertPush(tx, push);
    const executable = formatExecutable(push.executable, caller.role);
    const { warnings } = push;
    return { status: 200, body: warnings.length === 0 ? executable : { ...executable, warnings } };
  });
};

export const listExecutableFiles: OperationHandler<'listExecutableFiles'> = async (
  context,
  { caller, params },
) => {
  const { archive } = await findArchive(context, caller, params);
  const files = await readArchive(context, caller, async () => listArchiveFiles(await archive.open()));
  return {
    status: 200,
    body: { files: files.map(({ isExecutable, ...file }) => ({ ...file, executable: isExecutable })) },
  };
};

export const getExecutableFile: OperationHandler<'getExecutableFile'> = async (
  context,
  { caller, params },
) => {
  const { executable, archive } = await findArchive(context, caller, params);
  const found = await readArchive(context, caller, async () =>
    findArchiveFile(await archive.open(), params.sha256, FILE_TEXT_BYTES_MAX),
  );
  const { paths, size, content } = orThrow(found, () =>
    notFound(`The executable ${quoteValue(executable.id)} has no file with the SHA-256 ${params.sha256}.`),
  );
  const isHidden = paths.includes(MANIFEST) && listHiddenOptions(executable, caller.role).size > 0;
  return { status: 200, body: { path: paths[0] ?? '', size, ...formatText(content, isHidden) } };
};

/** Returns the executable of the application and its archive; throws a 404 when either does not exist. */
async function findArchive(
  { database, contents }: Pick<Context, 'database' | 'contents'>,
  caller: Caller,
  params: { application_id: ApplicationId; executable_id: ExecutableId },
): Promise<{ executable: ExecutablesTable; archive: Content }> {
  const application = await getApplication(database.read, caller.account, params.application_id);
  requireOwnFiles(application);
  const executable = await findExecutable(database.read, params.executable_id);
  if (executable?.application_uid !== application.uid)
    throw notFound(
      `There is no executable ${quoteValue(params.executable_id)} of application ${quoteValue(application.id)}.`,
    );
  const archive = await contents.find(executable.content_id);
  if (!archive)
    throw notFound(
      `The archive of the executable ${quoteValue(executable.id)} was deleted: nothing uses it.`,
    );
  return { executable, archive };
}

/** Reads an archive when the account has a free slot. Throws a 400 for an archive that a release with other limits has accepted. */
async function readArchive<T>(
  { archiveInspections }: Pick<Context, 'archiveInspections'>,
  caller: Caller,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await archiveInspections.run(caller.account, read);
  } catch (error) {
    if (error instanceof InvalidArchiveError) throw badRequest(error.message);
    throw error;
  }
}

function formatText(content: Buffer | null, isHidden: boolean): Pick<ExecutableFileText, 'text' | 'omitted'> {
  if (isHidden) return { text: null, omitted: 'hidden' };
  if (content === null) return { text: null, omitted: 'large' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return text.includes('\0') ? { text: null, omitted: 'binary' } : { text };
  } catch {
    return { text: null, omitted: 'binary' };
  }
}
