/**
 * The fault of a server that is killed and started on an empty database, and on another installation's, before it is started
 * on its own: both starts must be refused, and must change nothing in data folder, blobs and the wrong database.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hashFolderTree } from '../server/installation/testing/data-folders.ts';
import { createDatabase } from '../server/testing/database/postgres-server.ts';
import { openQuery } from '../server/testing/load/invariants.ts';
import { startServerProcess } from '../server/testing/servers/server-process.ts';
import type { Cluster, ClusterMember } from './cluster.ts';
import type { Fault } from './context.ts';

const OURS = ['switchyard.db', 'switchyard.db-wal', 'switchyard.db-shm'];

export const wrongDatabase: Fault = {
  name: 'the server was killed, and started on an empty and on another database first (both must be refused)',
  weight: 1,
  async inject({ cluster: stage }) {
    await stage.front.restart('SIGKILL', async (member) => {
      if (stage.postgres) await onPostgres(stage, member);
      else await onSqlite(stage, member);
    });
    return true;
  },
};

/** The runner's folder is left out: apps of the killed server end in it. */
function stateOf(data: string): string {
  const tree = Object.entries(hashFolderTree(data)).filter(
    ([path]) => path !== 'runner' && !path.startsWith('runner/'),
  );
  return JSON.stringify(tree);
}

async function expectRefused(
  stage: Cluster,
  member: ClusterMember,
  what: string,
  env: Record<string, string> = {},
): Promise<void> {
  const before = stateOf(member.data);
  const refused = await member.tryStart(env);
  if (refused === null) stage.wrongStarts.violations.push(`a start on ${what} was not refused`);
  else if (!refused.includes('Nothing was changed') && !refused.includes('another master key'))
    stage.wrongStarts.violations.push(`a start on ${what} was refused for another reason: ${refused}`);
  if (stateOf(member.data) !== before)
    stage.wrongStarts.violations.push(`a start on ${what} changed the data folder`);
  stage.wrongStarts.count += 1;
}

async function onSqlite(stage: Cluster, member: ClusterMember): Promise<void> {
  const aside = join(stage.settings.folder, 'database-aside');
  mkdirSync(aside, { recursive: true });
  const there = OURS.filter((name) => existsSync(join(member.data, name)));
  for (const name of there) renameSync(join(member.data, name), join(aside, name));
  await expectRefused(stage, member, 'a missing database');
  copyFileSync(join(await otherInstallation(stage), 'switchyard.db'), join(member.data, 'switchyard.db'));
  await expectRefused(stage, member, 'the database of another installation');
  rmSync(join(member.data, 'switchyard.db'));
  for (const name of there) renameSync(join(aside, name), join(member.data, name));
}

async function onPostgres(stage: Cluster, member: ClusterMember): Promise<void> {
  const address = stage.postgres?.url ?? '';
  const empty = await createDatabase(address, `empty_${stage.wrongStarts.count}`);
  await expectRefused(stage, member, 'an empty database', { SWITCHYARD_DATABASE: empty });
  const { query, close } = await openQuery('', empty);
  const [row] = await query("select count(*) as n from pg_tables where schemaname = 'public'");
  await close();
  if (Number(row?.n) !== 0)
    stage.wrongStarts.violations.push('a start on an empty database made tables in it');
  await expectRefused(stage, member, 'a missing SQLite database', {
    SWITCHYARD_DATABASE: '',
    SWITCHYARD_ROLE: 'all',
  });
}

/** The data folder of an installation that is made once, for its database. */
async function otherInstallation(stage: Cluster): Promise<string> {
  const data = join(stage.settings.folder, 'other-installation');
  if (existsSync(data)) return data;
  mkdirSync(data, { mode: 0o700 });
  const other = await startServerProcess({ dataFolder: data });
  await other.kill('SIGTERM');
  return data;
}
