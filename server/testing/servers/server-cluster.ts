/** Several processes on one PostgreSQL and one object store, each with a data folder of its own. */
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { createDatabase, dropDatabase, TEMPLATE_DATABASE } from '../database/postgres-server.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface ServerCluster {
  /**
   * Starts another process, with two slots if its role executes runs. `main` is the module to start, by default that of this
   * release; `env` overrides settings.
   */
  start(
    role: 'server' | 'worker' | 'all',
    options?: { main?: string; env?: Record<string, string> },
  ): Promise<ServerProcess>;
  /** Queries the shared database. */
  query<T extends object>(text: string, values?: unknown[]): Promise<T[]>;
  /** Kills all processes, and removes their database, bucket and folders. */
  close(): Promise<void>;
}

/**
 * Creates a database of the name on the PostgreSQL server for a cluster without processes. `sharedBlobs` is a folder for
 * the blobs; by default they are in a bucket. With `isEmpty` the first process creates the tables.
 */
export async function startServerCluster(
  postgres: string,
  name: string,
  {
    sharedBlobs,
    publicUrl,
    isEmpty = false,
  }: { sharedBlobs?: string; publicUrl?: string; isEmpty?: boolean } = {},
): Promise<ServerCluster> {
  const address = await createDatabase(postgres, name, isEmpty ? undefined : TEMPLATE_DATABASE);
  const s3 = sharedBlobs === undefined ? await startS3Server() : null;
  const key = randomBytes(32).toString('base64');
  const folders: string[] = [];
  const started: ServerProcess[] = [];
  return {
    async start(role, { main, env } = {}) {
      const data = mkdtempSync(join(tmpdir(), `switchyard-${role}-`));
      // Only the process that creates the installation gets the token, so the others copy its file.
      const [first] = folders;
      if (first) copyFileSync(join(first, 'root-token'), join(data, 'root-token'));
      folders.push(data);
      const server = await startServerProcess({
        dataFolder: data,
        ...(main === undefined ? {} : { main: { path: main, args: [] } }),
        env: {
          SWITCHYARD_ROLE: role,
          SWITCHYARD_DATABASE: address,
          SWITCHYARD_KEY: key,
          SWITCHYARD_CAPACITY: '2',
          ...(publicUrl === undefined ? {} : { SWITCHYARD_PUBLIC_URL: publicUrl }),
          ...(s3 ? s3.env : { SWITCHYARD_BLOBS: `file://${sharedBlobs}` }),
          ...env,
        },
      });
      started.push(server);
      return server;
    },
    async query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
      const client = new pg.Client({ connectionString: address });
      await client.connect();
      try {
        return (await client.query<T>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    async close() {
      for (const server of started.splice(0)) await server.kill();
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
      await s3?.stop();
      await dropDatabase(postgres, name);
    },
  };
}
