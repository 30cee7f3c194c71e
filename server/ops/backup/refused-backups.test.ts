/** Refusals of damaged backups and of unsuitable targets. Each names the problem and changes nothing. */
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { readConfig } from '../../platform/config.ts';
import { RESTORE_MARKER_FILE } from '../../platform/database/folder-lock.ts';
import { createLog } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import { nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { startServerProcess } from '../../testing/servers/server-process.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { LAST_UNRELEASED_COMMIT } from '../installation/start-refusal.ts';
import { blobListPath } from './blob-list.ts';
import { checkBackup } from './check-backup.ts';
import { createBackup } from './create-backup.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { restore } from './restore.ts';
import { writeRows } from './row-files.ts';
import { runBackupCommand } from './testing/commands.ts';

const log = createLog('silent');
const KEY = randomBytes(32);
const BLOB = 100_000;
let server: TestServer;
let folder: string;
/** The backup that each case copies and changes. */
let original: string;
let cases = 0;

const parts = { clock: systemClock, random: systemRandom };
const serverSettings = (): Record<string, string> => ({
  SWITCHYARD_DATA: server.dataFolder,
  SWITCHYARD_KEY: KEY.toString('base64'),
  ...(server.databaseUrl ? { SWITCHYARD_DATABASE: server.databaseUrl } : {}),
});

beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_KEY: KEY.toString('base64') } });
  folder = mkdtempSync(join(tmpdir(), 'switchyard-refusals-'));
  original = join(folder, 'whole');
  await pushApp(server, 'app', { ...nodeApp('(input) => input'), 'noise.bin': randomBytes(BLOB) });
  await createBackup(
    readConfig(serverSettings()),
    { folder: original, withoutKey: false, keep: null },
    parts,
  );
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a copy of the backup after `change` of its folder and of the folder of its blobs. */
function copyChanged(change: (backup: string, copy: string) => void): string {
  cases += 1;
  const copy = join(folder, `copy-${cases}`);
  cpSync(original, copy, { recursive: true });
  change(join(copy, findBackupName(copy)), copy);
  return copy;
}

const findBackupName = (copy: string): string => readdirSync(copy).find((name) => /^\d{4}-/.test(name)) ?? '';
const findBlob = (copy: string): string => {
  const found = readdirSync(join(copy, 'blobs'), { recursive: true, withFileTypes: true });
  const blob = found.find((one) => one.isFile());
  return join(blob?.parentPath ?? '', blob?.name ?? '');
};
function flipBit(path: string): void {
  const content = readFileSync(path);
  content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, content);
}
const readManifestFile = (backup: string): { manifest: Manifest; code: string } =>
  JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as { manifest: Manifest; code: string };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the manifest with another first table. */
function changeTable(manifest: Manifest, change: Partial<Manifest['tables'][number]>): Manifest {
  return {
    ...manifest,
    tables: manifest.tables.map((table, index) => (index === 0 ? { ...table, ...change } : table)),
  };
}

/** Returns the manifest for another list of blobs, which it writes. */
async function changeBlobs(manifest: Manifest, backup: string, blob: unknown[]): Promise<Manifest> {
  async function* rows() {
    yield [{ blob_key: blob[0], sha256: blob[1], bytes: blob[2] }];
  }
  const written = await writeRows(blobListPath(backup), ['blob_key', 'sha256', 'bytes'], rows());
  return { ...manifest, blobs: { count: 1, sha256: written.sha256 } };
}

/** An empty data folder, on SQLite. */
const target = (env: Record<string, string> = {}) =>
  readConfig({ SWITCHYARD_DATA: join(folder, `data-${cases}`), ...env });

describe('is refused, and nothing is restored:', () => {
  test.each<[string, RegExp, (backup: string, copy: string) => void]>([
    [
      'a folder without a backup',
      /is not a backup and holds none/,
      (backup) => rmSync(backup, { recursive: true }),
    ],
    [
      'an unfinished one',
      /holds no whole backup, only an unfinished one/,
      (backup, copy) =>
        cpSync(backup, join(copy, 'incoming'), { recursive: true }) ?? rmSync(backup, { recursive: true }),
    ],
    [
      'one without its manifest',
      /no whole backup in .*it has no manifest\.json/,
      (backup) => rmSync(join(backup, 'manifest.json')),
    ],
    [
      'one with an incomplete manifest',
      /is not the manifest of a backup, or is incomplete/,
      (backup) => {
        const path = join(backup, 'manifest.json');
        writeFileSync(path, readFileSync(path).subarray(0, 500));
      },
    ],
    [
      'one with a changed manifest',
      /does not fit the master key: the manifest was changed/,
      (backup) => {
        const read = readManifestFile(backup);
        read.manifest.tables.pop();
        writeFileSync(join(backup, 'manifest.json'), JSON.stringify(read));
      },
    ],
    [
      'one without a table',
      /not whole: .*accounts\.jsonl\.zst is missing/,
      (backup) => rmSync(join(backup, 'tables', 'accounts.jsonl.zst')),
    ],
    [
      'one with a changed table',
      /runs\.jsonl\.zst was changed after the backup was made/,
      (backup) => flipBit(join(backup, 'tables', 'runs.jsonl.zst')),
    ],
    ['one with a changed token', /root-token was changed/, (backup) => flipBit(join(backup, 'root-token'))],
    ['one without a blob', /not whole: its blob .* is missing/, (_, copy) => rmSync(findBlob(copy))],
    [
      'one with a shorter blob',
      /was changed: it has 10 bytes, and had/,
      (_, copy) => writeFileSync(findBlob(copy), '0123456789'),
    ],
    [
      'one with a changed blob',
      /blob .* was changed: its content has another hash/,
      (_, copy) => flipBit(findBlob(copy)),
    ],
    [
      'one with another key',
      /SWITCHYARD_KEY is another key than the one in the backup|does not fit the master key/,
      (backup) => flipBit(join(backup, 'master-key')),
    ],
    [
      'one with an incomplete key',
      /has 5 bytes; it must have 32/,
      (backup) => writeFileSync(join(backup, 'master-key'), '12345'),
    ],
  ])('%s', async (_, message, change) => {
    const copy = copyChanged(change);
    const config = target();
    await expect(restore(config, copy, { ...parts, log })).rejects.toThrow(message);
    expect(existsSync(config.data) ? readdirSync(config.data).filter((name) => name !== 'lock') : []).toEqual(
      [],
    );
  });

  test('one of a newer release', async () => {
    const copy = copyChanged(() => {});
    const backup = join(copy, findBackupName(copy));
    const { manifest } = readManifestFile(backup);
    await writeManifest(backup, { ...manifest, migrations: [...manifest.migrations, '9999-later'] }, KEY);
    await expect(restore(target(), copy, { ...parts, log })).rejects.toThrow(
      'The backup is of a newer release, whose migration 9999-later this release does not know. Restore it with that release.',
    );
  });

  test('one from before the first release', async () => {
    const copy = copyChanged(() => {});
    const backup = join(copy, findBackupName(copy));
    const { manifest } = readManifestFile(backup);
    await writeManifest(backup, { ...manifest, migrations: ['0001-contents', '0002-accounts'] }, KEY);
    await expect(restore(target(), copy, { ...parts, log })).rejects.toThrow(
      `The backup is from before release 0.2.0 and cannot be upgraded: use it with commit ${LAST_UNRELEASED_COMMIT},`,
    );
  });

  // The backup holds the key, so an attacker can authenticate each of these.
  test.each<[string, RegExp, (manifest: Manifest, backup: string) => Promise<Manifest> | Manifest]>([
    [
      'a file outside of the data folder',
      /files\.0\.name is "\.\.\/stolen"; it must be one of master-key, root-token, first-run\.json\./,
      (manifest, backup) => {
        writeFileSync(join(backup, '..', 'stolen'), 'x');
        return { ...manifest, files: [{ name: '../stolen', sha256: sha256('x') }] };
      },
    ],
    [
      'a file that servers read and backups do not have',
      /files\.0\.name is "installation\.json"; it must be one of/,
      (manifest, backup) => {
        writeFileSync(join(backup, 'installation.json'), 'x');
        return { ...manifest, files: [{ name: 'installation.json', sha256: sha256('x') }] };
      },
    ],
    [
      'rows outside of the backup',
      /tables\.0\.name is "\.\.\/\.\.\/accounts"; give this: The name of a table/,
      (manifest) => changeTable(manifest, { name: '../../accounts' }),
    ],
    [
      'a column that is SQL',
      /tables\.0\.columns\.0 is "id\\" --"; give this: The name of a table/,
      (manifest) => changeTable(manifest, { columns: ['id" --'] }),
    ],
    ['a table without columns', /tables\.0\.columns has 0 items/, (one) => changeTable(one, { columns: [] })],
    [
      'a sequence of an unknown table',
      /has the table nothing, which this release does not know/,
      (manifest) => ({ ...manifest, numbers: [{ table: 'nothing', column: 'id', last: 7 }] }),
    ],
    [
      'a blob outside of the backup',
      /names the blob "b-1" with the hash "\.\.\/\.\.\/stolen" and 1 bytes, which no backup has/,
      (manifest, backup) => changeBlobs(manifest, backup, ['b-1', '../../stolen', 1]),
    ],
    [
      'a blob with a path as its key',
      /names the blob "\.\.\/stolen" with the hash/,
      (manifest, backup) => changeBlobs(manifest, backup, ['../stolen', sha256('x'), 1]),
    ],
  ])('A5: one whose manifest names %s', async (_, message, change) => {
    const copy = copyChanged(() => {});
    const backup = join(copy, findBackupName(copy));
    const before = readdirSync(folder);
    await writeManifest(backup, await change(readManifestFile(backup).manifest, backup), KEY);
    const config = target();
    await expect(
      checkBackup(copy, null, { hashBlobs: true }).then(() => restore(config, copy, { ...parts, log })),
    ).rejects.toThrow(message);
    expect(existsSync(config.data)).toBe(false);
    expect(readdirSync(folder)).toEqual(before);
  });

  test('A5: the command writes nothing outside of the data folder', async () => {
    const copy = copyChanged(() => {});
    const backup = join(copy, findBackupName(copy));
    const name = '../home/.ssh/authorized_keys';
    for (const place of [join(copy, 'home', '.ssh'), join(folder, 'home', '.ssh')])
      mkdirSync(place, { recursive: true });
    writeFileSync(join(backup, name), 'x');
    const { manifest } = readManifestFile(backup);
    const files = [...manifest.files, { name, sha256: sha256('x') }];
    await writeManifest(backup, { ...manifest, files }, KEY);
    const done = await runBackupCommand('restore', [copy], { SWITCHYARD_DATA: target().data });
    expect(done).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`.name is "${name}"`),
    });
    expect(readdirSync(join(folder, 'home', '.ssh'))).toEqual([]);
  });

  test('one with fewer rows than in its manifest, after the rows are inserted', async () => {
    const copy = copyChanged(() => {});
    const backup = join(copy, findBackupName(copy));
    const { manifest } = readManifestFile(backup);
    const tables = manifest.tables.map((one) => (one.name === 'keys' ? { ...one, rows: one.rows + 1 } : one));
    await writeManifest(backup, { ...manifest, tables }, KEY);
    const config = target();
    await expect(restore(config, copy, { ...parts, log })).rejects.toThrow(
      'The table keys has 1 rows after the restore; the backup has 2.',
    );
    expect(readdirSync(config.data)).toEqual(['lock']);
  });
});

describe('a restore', () => {
  test('into a folder with files is refused with a message by the command', async () => {
    copyChanged(() => {});
    const config = target();
    mkdirSync(config.data);
    writeFileSync(join(config.data, 'mine.txt'), 'mine');
    const done = await runBackupCommand('restore', [original], { SWITCHYARD_DATA: config.data });
    expect(done).toEqual({
      code: 1,
      stdout: '',
      stderr: `The data folder ${config.data} is not empty: it holds mine.txt. Empty it, or set SWITCHYARD_DATA to another folder.\n`,
    });
    expect(readdirSync(config.data)).toEqual(['mine.txt']);
  });

  // A SQLite database is in the data folder, which the restore checks by itself.
  test.runIf(process.env.DATABASE === 'postgres')('into a database with rows is refused', async () => {
    copyChanged(() => {});
    const config = target({ SWITCHYARD_DATABASE: server.databaseUrl });
    await expect(restore(config, original, { ...parts, log })).rejects.toThrow(
      /The database is not empty: its table \w+ has rows/,
    );
    expect(readdirSync(config.data)).toEqual(['lock']);
  });

  test('that did not end leaves a folder that servers and restores refuse', async () => {
    copyChanged(() => {});
    const config = target();
    mkdirSync(config.data);
    writeFileSync(join(config.data, RESTORE_MARKER_FILE), original);
    await expect(startServerProcess({ dataFolder: config.data })).rejects.toThrow(
      /A restore into the data folder .* did not end, so part of the data is missing\. Empty the folder/,
    );
    await expect(restore(config, original, { ...parts, log })).rejects.toThrow(
      `it holds ${RESTORE_MARKER_FILE}`,
    );
  });
});

describe('a backup', () => {
  test('without the key needs the key in the environment for a restore', async () => {
    const copy = join(folder, 'without-key');
    const config = readConfig(serverSettings());
    const made = await createBackup(config, { folder: copy, withoutKey: true, keep: null }, parts);
    expect(readdirSync(made.folder).sort()).toEqual(['blobs.jsonl.zst', 'manifest.json', 'tables']);
    await expect(checkBackup(copy, null, { hashBlobs: true })).rejects.toThrow(
      'does not hold the master key. Set SWITCHYARD_KEY',
    );
    await expect(checkBackup(copy, randomBytes(32), { hashBlobs: true })).rejects.toThrow(
      'the key is that of another server',
    );
    expect((await checkBackup(copy, KEY, { hashBlobs: true })).masterKey).toEqual(KEY);
  });

  test.each<[string, () => { env: Record<string, string>; folder: string; withoutKey?: boolean }, RegExp]>([
    [
      'into a folder with other files',
      () => {
        mkdirSync(join(folder, 'photos'), { recursive: true });
        writeFileSync(join(folder, 'photos', 'cat.jpg'), '');
        return { env: serverSettings(), folder: join(folder, 'photos') };
      },
      /photos holds cat\.jpg, which is not a backup/,
    ],
    [
      'of a folder without a server',
      () => ({ env: { SWITCHYARD_DATA: join(folder, 'nowhere') }, folder: join(folder, 'b1') }),
      /There is no database at .*nowhere/,
    ],
    [
      'with another key',
      () => ({
        env: { ...serverSettings(), SWITCHYARD_KEY: randomBytes(32).toString('base64') },
        folder: join(folder, 'b2'),
      }),
      /made with another master key/,
    ],
    [
      'without the only copy of its key',
      () => ({ env: { SWITCHYARD_DATA: server.dataFolder }, folder: join(folder, 'b3'), withoutKey: true }),
      /Leave out --without-key, or keep the key elsewhere/,
    ],
  ])('%s is refused', async (_, prepare, message) => {
    const { env, folder: into, withoutKey = false } = prepare();
    await expect(
      createBackup(readConfig(env), { folder: into, withoutKey, keep: null }, parts),
    ).rejects.toThrow(message);
  });
});
