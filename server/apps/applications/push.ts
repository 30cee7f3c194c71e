/**
 * Push: the whole uploaded archive is checked and becomes the active executable, which `latest` then runs. A refused archive
 * leaves nothing behind.
 */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import {
  type ActivatedManifest,
  convertManifest,
  findPipRequirements,
} from '@switchyard/contract/applications/manifest/manifest.ts';
import { MANIFEST_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { ExecutableId, UploadId } from '@switchyard/contract/schemas/ids.ts';
import { isDeeper, LEVELS_MAX } from '@switchyard/contract/schemas/is-deeper.ts';
import {
  describeForeignProgram,
  describeMissingPrograms,
  describeRuntimeMismatch,
  describeStartProblem,
  InvalidArchiveError,
  inspectArchive,
} from '@switchyard/runner';
import { ContentRemovedError, type SharedContent } from '../../platform/blobs/contents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { makeId } from '../../platform/random.ts';
import { insertExecutable } from './executables-store.ts';
import { formatMeaning, readMeaning } from './meaning.ts';
import { parseManifest } from './parse-manifest.ts';
import type { ApplicationsTable, ExecutablesTable } from './schema.ts';
import { lockApplication, updateApplication } from './store.ts';

/** Returns the requested requirements in JSON, completed by the manifest, or the message that says why they are too large. */
function completeRequirements(
  requested: Requirements,
  manifest: ActivatedManifest,
): { requirements: Requirements; json: string } | { error: string } {
  const requirements = convertManifest(manifest, requested);
  if (isDeeper(requirements))
    return { error: `The requirements are nested deeper than ${LEVELS_MAX} levels.` };
  const json = JSON.stringify(requirements);
  if (Buffer.byteLength(json) > MANIFEST_BYTES_MAX)
    return { error: `The requirements are longer than ${MANIFEST_BYTES_MAX} bytes.` };
  return { requirements, json };
}

/** Returns the warning about a manifest that changes the objective of the application; undefined when it does not. */
function describeNewObjective(row: ApplicationsTable, { objective }: ActivatedManifest): string | undefined {
  const before = readMeaning(row).objective;
  if (!before || !objective) return undefined;
  if (before.name === objective.name && before.direction === objective.direction) return undefined;
  const [old, now] = [before, objective].map(({ name, direction }) => `${direction} ${quoteValue(name)}`);
  return `The objective of the application was to ${old}; app.yaml changes it to ${now}.`;
}

const PACKAGES_FOLDER = '.nextmv/python/deps/';

/**
 * Returns the warning about an archive without the Python packages that its manifest names; undefined when it has them.
 * The push is not refused, because the packages may be installed in the Python of the host.
 */
function describeMissingPackages(manifest: ActivatedManifest, files: readonly string[]): string | undefined {
  if (!findPipRequirements(manifest) || files.some((path) => path.startsWith(PACKAGES_FOLDER)))
    return undefined;
  return `app.yaml has python.pip-requirements, but the archive has no packages in ${PACKAGES_FOLDER}, so their imports fail unless the Python of the server has them. npm run push installs and packs them.`;
}

/** The request to make an uploaded archive the active executable. */
export interface PushRequest {
  application: ApplicationsTable;
  /** null for the last upload of the application. */
  uploadId: UploadId | null;
  requirements: Requirements;
  /** The address of the caller. */
  email: string;
}

/** A checked archive, ready to become the active executable. */
export interface PreparedPush {
  application: ApplicationsTable;
  executable: ExecutablesTable;
  content: SharedContent;
  /** What the manifest says about the indicators. */
  meaning: ReturnType<typeof formatMeaning>;
  /** Differences between this server and the runtime that the executable requires, one sentence each. */
  warnings: string[];
}

/** Checks the uploaded archive and writes nothing. Throws a 400 for a missing upload, an invalid archive or manifest. */
export async function preparePush(
  {
    uploads,
    clock,
    random,
    host,
    archiveInspections,
  }: Pick<Context, 'uploads' | 'clock' | 'random' | 'host' | 'archiveInspections'>,
  { application, uploadId, requirements, email }: PushRequest,
): Promise<PreparedPush> {
  const content = await uploads.use(application.uid, uploadId, 'executable', 'upload_id');
  const { inspected, parsed } = await archiveInspections
    .run(application.account_id, () => inspectContent(content, clock))
    .catch(throwRefusal);
  if ('error' in parsed) throw badRequest(parsed.error);
  const { manifest } = parsed;
  const completed = completeRequirements(requirements, manifest);
  if ('error' in completed) throw badRequest(completed.error);
  const { executable_type: type, runtime, entrypoint, working_directory } = completed.requirements;
  const program = {
    type,
    contents: inspected,
    ...(entrypoint ? { entrypoint } : {}),
    ...(working_directory ? { workingDirectory: working_directory } : {}),
  };
  const problem =
    describeStartProblem(program, inspected) ?? (host ? describeForeignProgram(program, host) : undefined);
  if (problem) throw badRequest(problem);
  const warnings = [
    host ? describeRuntimeMismatch(type, runtime, host) : undefined,
    host ? describeMissingPrograms(runtime, inspected.files) : undefined,
    type === 'python' ? describeMissingPackages(manifest, inspected.files) : undefined,
    describeNewObjective(application, manifest),
    ...parsed.warnings,
  ].filter((warning) => warning !== undefined);
  const executable: ExecutablesTable = {
    id: makeId<ExecutableId>(random, 'exe'),
    application_uid: application.uid,
    user_email: email,
    uploaded_at: clock.now(),
    requirements: completed.json,
    content_id: content.id,
    hash: inspected.hash,
    unused_since: null,
    archive_removed_at: null,
  };
  return { application, executable, content, meaning: formatMeaning(manifest), warnings };
}

/** Stores the executable as the active one. Throws a 404 or 400 when the application or the upload was deleted meanwhile. */
export async function insertPush(
  tx: Writer,
  { application, executable, content, meaning }: PreparedPush,
): Promise<void> {
  await lockApplication(tx, application);
  await content.insert(tx).catch(throwRefusal);
  await insertExecutable(tx, executable);
  await updateApplication(tx, application.uid, {
    active_executable_id: executable.id,
    ...meaning,
    updated_at: executable.uploaded_at,
  });
}

/** Turns the errors of an invalid archive and of a deleted upload into a 400. */
function throwRefusal(error: unknown): never {
  if (error instanceof InvalidArchiveError) throw badRequest(error.message);
  if (error instanceof ContentRemovedError)
    throw badRequest(
      'The upload was deleted during the push; request a new upload URL and PUT the archive there.',
    );
  throw error;
}

async function inspectContent(content: SharedContent, clock: Clock) {
  const inspected = await inspectArchive(await content.open());
  if (inspected.manifestText === undefined)
    throw badRequest('The archive has no app.yaml at its root; a manifest is required.');
  return { inspected, parsed: await parseManifest(inspected.manifestText, clock) };
}
