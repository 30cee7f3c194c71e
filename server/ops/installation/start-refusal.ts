/**
 * Decides whether a server may start with the database, the data folder and the blobs of its settings. It refuses a start
 * when they do not belong together: the server would remove the blobs that the database does not name, and write a new root
 * token.
 *
 * A blob store without a marker is that of the database when it has its blobs. One blob of a sample is enough, because a
 * single lost blob must not prevent a start.
 */
import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { describeWalDamage } from '../../platform/database/maintenance/wal-damage.ts';
import { computeKeyCheck, WRONG_MASTER_KEY_MESSAGE } from '../../platform/master-key.ts';
import type { InstallationState } from './installation-state.ts';

const NOTHING_CHANGED = 'Nothing was changed.';
const INSPECT = '`npm run installation` shows what belongs to which installation';
/** The last commit that reads databases and backups from before release 0.2.0. */
export const LAST_UNRELEASED_COMMIT = '04437bfa173e98b143e9ff571b9fb34acc73c208';
const ADOPT = '`npm run installation -- adopt`';

/** Returns the message of the refusal, or null when the server may start. */
export function findStartRefusal(sides: InstallationState): string | null {
  const reason = findAdoptionRefusal(sides) ?? findMismatch(sides);
  return reason === null ? null : `${reason} ${NOTHING_CHANGED}`;
}

/** Returns the message for a state that `adopt` cannot solve, or null. */
export function findAdoptionRefusal({ database, folder }: InstallationState): string | null {
  if (folder.foreignFolder !== null)
    return `SWITCHYARD_DATA is "${folder.path}", where no server has run, and a start would empty ${folder.foreignFolder}. Set SWITCHYARD_DATA to an empty or missing folder, or move that folder away.`;
  if (database.state === 'unreleased') return explainUnreleased(capitalise(database.name));
  if (database.state === 'newer')
    return `${capitalise(database.name)} belongs to a newer Switchyard, which has applied ${database.detail}. Start that release or a later one, or restore a backup from before the upgrade.`;
  if (database.state === 'foreign')
    return `${capitalise(database.name)} has tables of another program, such as ${database.detail}. Set SWITCHYARD_DATABASE to an empty database or to that of this installation.`;
  if (database.keyCheck && (!folder.masterKey || computeKeyCheck(folder.masterKey) !== database.keyCheck))
    return WRONG_MASTER_KEY_MESSAGE;
  return null;
}

/** Returns the sentence about a database or backup of a commit from before release 0.2.0. */
export function explainUnreleased(name: string): string {
  return `${name} is from before release 0.2.0 and cannot be upgraded: use it with commit ${LAST_UNRELEASED_COMMIT}, download there what you want to keep, and start this release with an empty SWITCHYARD_DATA, SWITCHYARD_DATABASE and SWITCHYARD_BLOBS.`;
}

function findMismatch(sides: InstallationState): string | null {
  const { database, folder, blobs } = sides;
  if (database.state === 'empty') return explainEmptyDatabase(sides);
  const id = database.identity?.id ?? null;
  const others = [
    ...(blobs.marker && blobs.marker.installation !== id
      ? [`${blobs.name} belongs to ${blobs.marker.installation}`]
      : []),
    ...(folder.installation !== null && folder.installation !== id
      ? [`the data folder ${folder.path} to ${folder.installation}`]
      : []),
  ];
  if (others.length > 0)
    return `${capitalise(database.name)} belongs to ${id}, but ${others.join(', and ')}. Set SWITCHYARD_DATABASE, SWITCHYARD_DATA and SWITCHYARD_BLOBS to those of one installation; two installations need separate ones. ${capitalise(INSPECT)}, and ${ADOPT} makes all three the installation of the database.`;
  return (
    explainOlderServers(database) ?? (blobs.marker ? explainLostBlobs(sides) : explainUnmarkedBlobs(sides))
  );
}

function explainOlderServers({
  name,
  breakingMigration,
  olderServers,
}: InstallationState['database']): string | null {
  if (breakingMigration === null || olderServers.length === 0) return null;
  const list = olderServers
    .map(({ address, since }) => `from ${address ?? 'this machine'} since ${formatRfc3339(since)}`)
    .join(', ');
  return `This release applies the migration ${breakingMigration.name}, after which an earlier one cannot work: ${breakingMigration.breaks} Servers or workers of an earlier release are connected to ${name}: ${list}. Stop them, then start this one.`;
}

function explainEmptyDatabase({ database, folder, blobs }: InstallationState): string | null {
  const found = [
    ...(folder.installation !== null
      ? [`the data folder ${folder.path} belongs to ${folder.installation}`]
      : []),
    ...(folder.leftoverNames.length > 0
      ? [`the data folder ${folder.path} holds ${folder.leftoverNames.join(', ')}`]
      : []),
    ...(blobs.marker ? [`${blobs.name} belongs to ${blobs.marker.installation}`] : []),
    ...(blobs.isEmpty ? [] : [`${blobs.name} holds blobs`]),
  ];
  if (found.length === 0) return null;
  const dropped =
    database.walDamage !== null
      ? ` Also, ${describeWalDamage(database.walDamage)}. Keep a copy of switchyard.db-wal if it exists.`
      : '';
  return `${capitalise(database.name)} is missing or empty, but ${found.join(', and ')}.${dropped} If the database is in another place, set SWITCHYARD_DATABASE or SWITCHYARD_DATA to it. If it is lost, restore a backup with \`npm run restore\`. For a new installation set SWITCHYARD_DATA to an empty folder and SWITCHYARD_BLOBS, if it is set, to another store. ${ADOPT} creates a new installation here and moves the blobs to the trash.`;
}

function explainLostBlobs({ database, blobs }: InstallationState): string | null {
  if (!blobs.isEmpty || blobs.marker?.mayBeEmpty || database.sampledBlobKeys.length === 0) return null;
  return addBlobRemedies(
    `${capitalise(blobs.name)} is empty, but ${database.name} names blobs in it, such as ${database.sampledBlobKeys[0]}.`,
  );
}

function explainUnmarkedBlobs({ database, blobs }: InstallationState): string | null {
  const names = database.sampledBlobKeys.length > 0;
  if (names && blobs.isEmpty)
    return addBlobRemedies(
      `${capitalise(blobs.name)} is empty, but ${database.name} names blobs, such as ${database.sampledBlobKeys[0]}.`,
    );
  if (names && blobs.foundCount === 0)
    return addBlobRemedies(
      `${capitalise(blobs.name)} holds blobs of another installation: of ${blobs.sampledCount} that ${database.name} names, the store has none, such as ${database.sampledBlobKeys[0]}.`,
    );
  if (!names && !blobs.isEmpty)
    return `${capitalise(blobs.name)} holds blobs, and ${database.name} names none: they belong to another installation, or the database is an older copy. Set SWITCHYARD_BLOBS, SWITCHYARD_DATA or SWITCHYARD_DATABASE to those of one installation; ${ADOPT} assigns the blobs to the database and moves those that it does not name to the trash.`;
  return null;
}

function addBlobRemedies(problem: string): string {
  return `${problem} Set SWITCHYARD_BLOBS or SWITCHYARD_DATA to the place of the blobs, copy them back, or restore a backup with \`npm run restore\`. If they are lost, ${ADOPT} continues without them.`;
}
