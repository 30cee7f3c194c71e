/**
 * Kills the server and starts it on an empty database and on that of another installation, before a regular start. The
 * server must refuse both starts, without changing the data folder, the blobs or the wrong database.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hashFolderTree } from '../server/ops/installation/testing/data-folders.ts';
import { createDatabase } from '../server/testing/database/postgres-server.ts';
import { openQuery } from '../server/testing/load/invariants.ts';
import { startServerProcess } from '../server/testing/servers/server-process.ts';
import type { Cluster, ClusterMember } from './cluster.ts';
import type { Fault } from './context.ts';

const DATABASE_FILES = ['switchyard.db', 'switchyard.db-wal', 'switchyard.db-shm'];

export const wrongDatabase: Fault = {
  name: 'the server was killed, and started on an empty and on another database first (both must be refused)',
  weight: 1,
  async inject({ cluster }) {
    await cluster.front.restart('SIGKILL', async (member) => {
      if (cluster.postgres) await startOnWrongPostgres(cluster, member);
      else await startOnWrongSqlite(cluster, member);
    });
    return true;
  },
};

/** The runner's folder is excluded: apps of the killed server end in it. */
function hashState(data: string): string {
  const tree = Object.entries(hashFolderTree(data)).filter(
    ([path]) => path !== 'runner' && !path.startsWith('runner/'),
  );
  return JSON.stringify(tree);
}

async function expectRefused(
  cluster: Cluster,
  member: ClusterMember,
  description: string,
  env: Record<string, string> = {},
): Promise<void> {
  const before = hashState(member.data);
  const refusal = await member.tryStart(env);
  if (refusal === null) cluster.wrongStarts.violations.push(`a start on ${description} was not refused`);
  else if (!refusal.includes('Nothing was changed') && !refusal.includes('another master key'))
    cluster.wrongStarts.violations.push(
      `a start on ${description} was refused for another reason: ${refusal}`,
    );
  if (hashState(member.data) !== before)
    cluster.wrongStarts.violations.push(`a start on ${description} changed the data folder`);
  cluster.wrongStarts.count += 1;
}

async function startOnWrongSqlite(cluster: Cluster, member: ClusterMember): Promise<void> {
  const aside = join(cluster.settings.folder, 'database-aside');
  mkdirSync(aside, { recursive: true });
  const present = DATABASE_FILES.filter((name) => existsSync(join(member.data, name)));
  for (const name of present) renameSync(join(member.data, name), join(aside, name));
  await expectRefused(cluster, member, 'a missing database');
  copyFileSync(
    join(await createOtherInstallation(cluster), 'switchyard.db'),
    join(member.data, 'switchyard.db'),
  );
  await expectRefused(cluster, member, 'the database of another installation');
  rmSync(join(member.data, 'switchyard.db'));
  for (const name of present) renameSync(join(aside, name), join(member.data, name));
}

async function startOnWrongPostgres(cluster: Cluster, member: ClusterMember): Promise<void> {
  const address = cluster.postgres?.url ?? '';
  const empty = await createDatabase(address, `empty_${cluster.wrongStarts.count}`);
  await expectRefused(cluster, member, 'an empty database', { SWITCHYARD_DATABASE: empty });
  const { query, close } = await openQuery('', empty);
  const [row] = await query("select count(*) as n from pg_tables where schemaname = 'public'");
  await close();
  if (Number(row?.n) !== 0)
    cluster.wrongStarts.violations.push('a start on an empty database created tables in it');
  await expectRefused(cluster, member, 'a missing SQLite database', {
    SWITCHYARD_DATABASE: '',
    SWITCHYARD_ROLE: 'all',
  });
}

/** Returns the data folder of another installation, which is created once. */
async function createOtherInstallation(cluster: Cluster): Promise<string> {
  const data = join(cluster.settings.folder, 'other-installation');
  if (existsSync(data)) return data;
  mkdirSync(data, { mode: 0o700 });
  const other = await startServerProcess({ dataFolder: data });
  await other.kill('SIGTERM');
  return data;
}
