/** What is never taken for a backup, and where none is restored to; each refusal says what is wrong and changes nothing. */
import { randomBytes } from 'node:crypto';
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
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { RESTORE_MARKER_FILE } from '../database/folder-lock.ts';
import { createLog } from '../log.ts';
import { systemRandom } from '../random.ts';
import { nodeApp, pushApp } from '../testing/fixtures/apps.ts';
import { startServerProcess } from '../testing/servers/server-process.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';
import { checkBackup } from './check-backup.ts';
import { createBackup } from './create-backup.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { restore } from './restore.ts';
import { runBackupCommand } from './testing/commands.ts';

const log = createLog('silent');
const KEY = randomBytes(32);
const BLOB = 100_000;
let server: TestServer;
let folder: string;
/** The backup that every case changes a copy of. */
let whole: string;
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
  whole = join(folder, 'whole');
  await pushApp(server, 'app', { ...nodeApp('(input) => input'), 'noise.bin': randomBytes(BLOB) });
  await createBackup(readConfig(serverSettings()), { folder: whole, withoutKey: false, keep: null }, parts);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A copy of the backup, after `change` of its folder and of the folder of its blobs. */
function changed(change: (backup: string, place: string) => void): string {
  cases += 1;
  const place = join(folder, `copy-${cases}`);
  cpSync(whole, place, { recursive: true });
  change(join(place, nameIn(place)), place);
  return place;
}

const nameIn = (place: string): string => readdirSync(place).find((name) => /^\d{4}-/.test(name)) ?? '';
const blobOf = (place: string): string => {
  const found = readdirSync(join(place, 'blobs'), { recursive: true, withFileTypes: true });
  const blob = found.find((one) => one.isFile());
  return join(blob?.parentPath ?? '', blob?.name ?? '');
};
function flip(path: string): void {
  const content = readFileSync(path);
  content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, content);
}
const manifestOf = (backup: string): { manifest: Manifest; code: string } =>
  JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as { manifest: Manifest; code: string };

/** An empty data folder, on SQLite. */
const target = (env: Record<string, string> = {}) =>
  readConfig({ SWITCHYARD_DATA: join(folder, `data-${cases}`), ...env });

describe('is refused, and nothing is restored:', () => {
  test.each<[string, RegExp, (backup: string, place: string) => void]>([
    [
      'a folder without a backup',
      /is no backup and holds none/,
      (backup) => rmSync(backup, { recursive: true }),
    ],
    [
      'one that was cut off',
      /holds no whole backup, only one that was cut off/,
      (backup, place) =>
        cpSync(backup, join(place, 'incoming'), { recursive: true }) ?? rmSync(backup, { recursive: true }),
    ],
    [
      'one without its manifest',
      /no whole backup in .*it has no manifest\.json/,
      (backup) => rmSync(join(backup, 'manifest.json')),
    ],
    [
      'one whose manifest was cut off',
      /is not the manifest of a backup, or was cut off/,
      (backup) => {
        const path = join(backup, 'manifest.json');
        writeFileSync(path, readFileSync(path).subarray(0, 500));
      },
    ],
    [
      'one whose manifest was changed',
      /does not fit the master key: the manifest was changed/,
      (backup) => {
        const read = manifestOf(backup);
        read.manifest.tables.pop();
        writeFileSync(join(backup, 'manifest.json'), JSON.stringify(read));
      },
    ],
    [
      'one that lacks a table',
      /not whole: .*accounts\.jsonl\.zst is missing/,
      (backup) => rmSync(join(backup, 'tables', 'accounts.jsonl.zst')),
    ],
    [
      'one with a changed table',
      /runs\.jsonl\.zst was changed after the backup was made/,
      (backup) => flip(join(backup, 'tables', 'runs.jsonl.zst')),
    ],
    ['one with a changed token', /root-token was changed/, (backup) => flip(join(backup, 'root-token'))],
    ['one that lacks a blob', /not whole: its blob .* is missing/, (_, place) => rmSync(blobOf(place))],
    [
      'one with a shorter blob',
      /was changed: it has 10 bytes, and had/,
      (_, place) => writeFileSync(blobOf(place), '0123456789'),
    ],
    [
      'one with a changed blob',
      /blob .* was changed: its content has another hash/,
      (_, place) => flip(blobOf(place)),
    ],
    [
      'one with another key',
      /SWITCHYARD_KEY is another key than the one in the backup|does not fit the master key/,
      (backup) => flip(join(backup, 'master-key')),
    ],
    [
      'one with a key that was cut off',
      /has 5 bytes; it must have 32/,
      (backup) => writeFileSync(join(backup, 'master-key'), '12345'),
    ],
  ])('%s', async (_, sentence, change) => {
    const place = changed(change);
    const config = target();
    await expect(restore(config, place, { ...parts, log })).rejects.toThrow(sentence);
    expect(existsSync(config.data) ? readdirSync(config.data).filter((name) => name !== 'lock') : []).toEqual(
      [],
    );
  });

  test('one of a newer release', async () => {
    const place = changed(() => {});
    const backup = join(place, nameIn(place));
    const { manifest } = manifestOf(backup);
    await writeManifest(backup, { ...manifest, migrations: [...manifest.migrations, '9999-later'] }, KEY);
    await expect(restore(target(), place, { ...parts, log })).rejects.toThrow(
      'The backup is of a newer release, which has made the tables by 9999-later; restore it with that release.',
    );
  });

  test('one with more rows than its manifest says, when the rows are counted', async () => {
    const place = changed(() => {});
    const backup = join(place, nameIn(place));
    const { manifest } = manifestOf(backup);
    const tables = manifest.tables.map((one) => (one.name === 'keys' ? { ...one, rows: one.rows + 1 } : one));
    await writeManifest(backup, { ...manifest, tables }, KEY);
    const config = target();
    await expect(restore(config, place, { ...parts, log })).rejects.toThrow(
      'The table keys has 1 rows after the restore; the backup has 2.',
    );
    expect(readdirSync(config.data)).toEqual(['lock']);
  });
});

describe('a restore', () => {
  test('into what is not empty is refused with a sentence, by the command too', async () => {
    changed(() => {});
    const config = target();
    mkdirSync(config.data);
    writeFileSync(join(config.data, 'mine.txt'), 'mine');
    const done = await runBackupCommand('restore', [whole], { SWITCHYARD_DATA: config.data });
    expect(done).toEqual({
      code: 1,
      stdout: '',
      stderr: `The data folder ${config.data} is not empty: it holds mine.txt. Empty it, or set SWITCHYARD_DATA to another.\n`,
    });
    expect(readdirSync(config.data)).toEqual(['mine.txt']);
  });

  // On SQLite the database lies in the data folder, which is empty or refused for that.
  test.runIf(process.env.DATABASE === 'postgres')('into a database with rows is refused', async () => {
    changed(() => {});
    const config = target({ SWITCHYARD_DATABASE: server.databaseUrl });
    await expect(restore(config, whole, { ...parts, log })).rejects.toThrow(
      /The database is not empty: its table \w+ has rows/,
    );
    expect(readdirSync(config.data)).toEqual(['lock']);
  });

  test('that was cut off leaves a folder that no server starts on and no restore takes', async () => {
    changed(() => {});
    const config = target();
    mkdirSync(config.data);
    writeFileSync(join(config.data, RESTORE_MARKER_FILE), whole);
    await expect(startServerProcess({ dataFolder: config.data })).rejects.toThrow(
      /A restore into the data folder .* did not end, so part of the data is missing\. Empty the folder/,
    );
    await expect(restore(config, whole, { ...parts, log })).rejects.toThrow(
      `it holds ${RESTORE_MARKER_FILE}`,
    );
  });
});

describe('a backup', () => {
  test('without the key is restored with it in the environment, and not without', async () => {
    const place = join(folder, 'without-key');
    const config = readConfig(serverSettings());
    const made = await createBackup(config, { folder: place, withoutKey: true, keep: null }, parts);
    expect(readdirSync(made.folder).sort()).toEqual(['blobs.jsonl.zst', 'manifest.json', 'tables']);
    await expect(checkBackup(place, null, { hashBlobs: true })).rejects.toThrow(
      'was made without the master key; set SWITCHYARD_KEY',
    );
    await expect(checkBackup(place, randomBytes(32), { hashBlobs: true })).rejects.toThrow(
      'the key is that of another server',
    );
    expect((await checkBackup(place, KEY, { hashBlobs: true })).masterKey).toEqual(KEY);
  });

  test.each<[string, () => { env: Record<string, string>; folder: string; withoutKey?: boolean }, RegExp]>([
    [
      'into a folder of something else',
      () => {
        mkdirSync(join(folder, 'photos'), { recursive: true });
        writeFileSync(join(folder, 'photos', 'cat.jpg'), '');
        return { env: serverSettings(), folder: join(folder, 'photos') };
      },
      /photos holds cat\.jpg, which is no backup/,
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
      'without a key that is nowhere else',
      () => ({ env: { SWITCHYARD_DATA: server.dataFolder }, folder: join(folder, 'b3'), withoutKey: true }),
      /leave out --without-key, or keep the key elsewhere/,
    ],
  ])('%s is refused', async (_, asked, sentence) => {
    const { env, folder: into, withoutKey = false } = asked();
    await expect(
      createBackup(readConfig(env), { folder: into, withoutKey, keep: null }, parts),
    ).rejects.toThrow(sentence);
  });
});
