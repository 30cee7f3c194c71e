/**
 * Decides whether a server may start on what the settings point to. A start is refused wherever the database, the data
 * folder and the blobs do not belong together, because it would remove the blobs that the database does not name and
 * write a new root token.
 *
 * An installation of an earlier release has no id. It is adopted when its database has accounts and the blobs that it
 * names are in the store: at least one of a sample, because a single lost blob must not stop an upgrade.
 */
import { computeKeyCheck, WRONG_MASTER_KEY_MESSAGE } from '../account/master-key.ts';
import type { InstallationState } from './installation-state.ts';

const NOTHING_CHANGED = 'Nothing was changed.';
const LOOK = '`npm run installation` shows what belongs to which installation';
const ADOPT = '`npm run installation -- adopt`';

/** The sentence to refuse with, or null when the server may start. */
export function findStartRefusal(sides: InstallationState): string | null {
  const reason = findAdoptionRefusal(sides) ?? mismatch(sides);
  return reason === null ? null : `${reason} ${NOTHING_CHANGED}`;
}

/** What no command can adopt. */
export function findAdoptionRefusal({ database, folder }: InstallationState): string | null {
  if (folder.foreignFolder !== null)
    return `SWITCHYARD_DATA is "${folder.path}", where no server has worked, and a start would empty ${folder.foreignFolder}: set SWITCHYARD_DATA to an empty or missing folder, or move that one away.`;
  if (database.state === 'newer')
    return `${upper(database.name)} was made by a newer Switchyard, which has applied ${database.detail}: start that release or a later one, or restore a backup made before the upgrade.`;
  if (database.state === 'foreign')
    return `${upper(database.name)} has tables of another program, such as ${database.detail}: set SWITCHYARD_DATABASE to an empty database or to that of this installation.`;
  if (database.keyCheck && (!folder.masterKey || computeKeyCheck(folder.masterKey) !== database.keyCheck))
    return WRONG_MASTER_KEY_MESSAGE;
  return null;
}

function mismatch(sides: InstallationState): string | null {
  const { database, folder, blobs } = sides;
  if (database.state === 'empty') return besideEmptyDatabase(sides);
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
    return `${upper(database.name)} belongs to ${id ?? 'an installation without an id, of an earlier release'}, but ${others.join(', and ')}. Set SWITCHYARD_DATABASE, SWITCHYARD_DATA and SWITCHYARD_BLOBS to those of one installation; two installations need two places. ${upper(LOOK)}, and ${ADOPT} makes all three the installation of the database.`;
  return blobs.marker ? lostBlobs(sides) : unmarkedBlobs(sides);
}

function besideEmptyDatabase({ database, folder, blobs }: InstallationState): string | null {
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
    database.droppedCommits > 0
      ? ` Its log switchyard.db-wal is damaged, so that SQLite reads nothing of the ${database.droppedCommits} commits behind the damage: keep a copy of it.`
      : '';
  return `${upper(database.name)} is missing or empty, but ${found.join(', and ')}.${dropped} If the database is elsewhere, set SWITCHYARD_DATABASE or SWITCHYARD_DATA to it. If it is lost, restore a backup with \`npm run restore\`. For a new installation set SWITCHYARD_DATA to an empty folder and SWITCHYARD_BLOBS, if it is set, to another place; ${ADOPT} begins a new one here, and the blobs go to the trash.`;
}

function lostBlobs({ database, blobs }: InstallationState): string | null {
  if (!blobs.isEmpty || blobs.marker?.mayBeEmpty || database.sampledBlobKeys.length === 0) return null;
  return withoutBlobs(
    `${upper(blobs.name)} is empty, but ${database.name} names blobs in it, such as ${database.sampledBlobKeys[0]}.`,
  );
}

function unmarkedBlobs({ database, blobs }: InstallationState): string | null {
  const names = database.sampledBlobKeys.length > 0;
  if (names && blobs.isEmpty)
    return withoutBlobs(
      `${upper(blobs.name)} is empty, but ${database.name} names blobs, such as ${database.sampledBlobKeys[0]}.`,
    );
  if (names && blobs.foundCount === 0)
    return withoutBlobs(
      `${upper(blobs.name)} holds blobs of another installation: of ${blobs.sampledCount} that ${database.name} names none is there, such as ${database.sampledBlobKeys[0]}.`,
    );
  if (!names && !blobs.isEmpty)
    return `${upper(blobs.name)} holds blobs, and ${database.name} names none: they are another installation's, or the database is an older copy. Set SWITCHYARD_BLOBS, SWITCHYARD_DATA or SWITCHYARD_DATABASE to those of one installation; ${ADOPT} makes the blobs those of the database, and what it does not name goes to the trash.`;
  return null;
}

function withoutBlobs(trouble: string): string {
  return `${trouble} Set SWITCHYARD_BLOBS or SWITCHYARD_DATA to where the blobs are, put them back, or restore a backup with \`npm run restore\`; if they are lost for good, ${ADOPT} goes on without them.`;
}

function upper(text: string): string {
  return text.replace(/^[a-z]/, (first) => first.toUpperCase());
}
