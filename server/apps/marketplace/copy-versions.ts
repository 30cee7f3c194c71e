/**
 * Copies published versions into the applications of subscribers. Each application has its own rows of versions and
 * executables. So no operation of a subscriber reads a row of the partner. A deletion by the partner leaves the runs of
 * subscribers complete. The archives are shared: several rows of contents name one blob.
 */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { DESCRIPTION_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { ROLES } from '@switchyard/contract/roles.ts';
import type { ExecutableId } from '@switchyard/contract/schemas/ids.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { parseRequirements } from '../applications/executable.ts';
import { findExecutables, insertExecutable } from '../applications/executables-store.ts';
import type { ApplicationsTable, ExecutablesTable } from '../applications/schema.ts';
import { updateApplication } from '../applications/store.ts';
import { findVersion, insertVersion } from '../versions/store.ts';
import { parseChangeLog } from './format-app.ts';
import type { MarketplaceVersionsTable } from './schema.ts';

/** The services that a copy needs. */
export interface CopyParts {
  contents: Contents;
  random: Random;
}

/** A published version with the executable of the partner. */
export interface PublishedProgram {
  version: MarketplaceVersionsTable;
  executable: ExecutablesTable;
}

/** Lists the published versions with their executables, oldest first. The caller has locked the app, so that none is deleted. */
export async function listPublishedPrograms(
  tx: Writer,
  versions: readonly MarketplaceVersionsTable[],
): Promise<PublishedProgram[]> {
  const programs: PublishedProgram[] = [];
  for (const version of versions) {
    const source = await findVersion(tx, version.application_uid, version.ref_version_id);
    const [executable] = source ? await findExecutables(tx, [source.executable_id]) : [];
    if (!executable)
      throw new Error(`The published version ${version.subscription_id} ${version.id} has no executable.`);
    programs.push({ version, executable });
  }
  return programs.sort((a, b) => a.version.created_at - b.version.created_at);
}

/**
 * Gives the application those of the versions that it lacks, and makes the last one active. The caller has locked the
 * application.
 */
export async function copyVersions(
  tx: Writer,
  parts: CopyParts,
  application: ApplicationsTable,
  programs: readonly PublishedProgram[],
): Promise<void> {
  let active: ExecutableId | null = null;
  for (const { version, executable } of programs) {
    const existing = await findVersion(tx, application.uid, version.id);
    active = existing?.executable_id ?? (await copyVersion(tx, parts, application, { version, executable }));
  }
  if (active === null) return;
  const updated_at = Math.max(application.updated_at, programs.at(-1)?.version.created_at ?? 0);
  await updateApplication(tx, application.uid, { active_executable_id: active, updated_at });
}

async function copyVersion(
  tx: Writer,
  { contents, random }: CopyParts,
  { uid }: ApplicationsTable,
  { version, executable }: PublishedProgram,
): Promise<ExecutableId> {
  const id = makeId<ExecutableId>(random, 'exe');
  await insertExecutable(tx, {
    ...executable,
    id,
    application_uid: uid,
    // The person who pushed it is a member of the partner.
    user_email: '',
    uploaded_at: version.created_at,
    requirements: JSON.stringify(hideOptions(parseRequirements(executable))),
    content_id: await contents.copy(tx, executable.content_id),
    unused_since: null,
    archive_removed_at: null,
  });
  await insertVersion(tx, {
    application_uid: uid,
    id: version.id,
    name: version.id,
    description: formatDescription(version),
    executable_id: id,
    created_at: version.created_at,
    updated_at: version.created_at,
  });
  return id;
}

/** Hides the options that the partner hides from operators from every role: all roles of a subscriber only run the app. */
function hideOptions(requirements: Requirements): Requirements {
  const items = requirements.options?.items;
  if (!items) return requirements;
  const hidden = items.map((item) =>
    item.ui?.hidden_from?.includes('operator')
      ? { ...item, ui: { ...item.ui, hidden_from: [...ROLES] } }
      : item,
  );
  return { ...requirements, options: { ...requirements.options, items: hidden } };
}

/** Returns the first change of the version, in the length of a description. */
function formatDescription(version: MarketplaceVersionsTable): string {
  const [first = ''] = parseChangeLog(version);
  return first.slice(0, DESCRIPTION_CHARS_MAX);
}
