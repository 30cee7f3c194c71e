/**
 * A thread with PostgreSQL and the connections of the simulation itself, on the real machine: the simulating thread waits for
 * each answer without a turn of its event loop.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { createTypeOverrides } from '../../server/platform/database/postgres/postgres.ts';
import { startPostgres } from '../../server/testing/database/postgres-server.ts';
import type { AdminRequest } from './admin.ts';

const { port, flag, folder }: { port: MessagePort; flag: Int32Array; folder: string } = workerData;

const server = await startPostgres({ isInMemory: true, parentFolder: folder });
const connections = new Map<string, pg.Client>();

async function connect(database: string): Promise<pg.Client> {
  const known = connections.get(database);
  if (known) return known;
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href, types: createTypeOverrides() });
  client.on('error', () => {});
  await client.connect();
  connections.set(database, client);
  return client;
}

async function disconnect(database: string): Promise<void> {
  const client = connections.get(database);
  connections.delete(database);
  await client?.end().catch(() => {});
}

async function restart(): Promise<void> {
  for (const database of [...connections.keys()]) await disconnect(database);
  await server.stop({ keepsData: true });
  await server.restart();
}

async function handle(request: AdminRequest): Promise<unknown> {
  if (request.do === 'describe') return { url: server.url, pid: server.pid };
  if (request.do === 'restart') return restart();
  if (request.do === 'disconnect') return disconnect(request.database);
  const client = await connect(request.database);
  const { sql, values = [] } = request;
  const isPrepared = values.length > 0 || sql.startsWith('select ');
  const result = isPrepared
    ? await client.query({ name: nameStatement(sql), text: sql, values: [...values] })
    : await client.query(sql);
  return result.rows;
}

const names = new Map<string, string>();

function nameStatement(sql: string): string {
  const name = names.get(sql) ?? `s${names.size}`;
  names.set(sql, name);
  return name;
}

port.on('message', (request: AdminRequest) => {
  handle(request)
    .then(
      (result) => ({ result }),
      (error: unknown) => ({ error: `${request.do === 'query' ? request.sql : request.do}: ${error}` }),
    )
    .then((answer) => {
      port.postMessage(answer);
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
    });
});
parentPort?.postMessage('ready');
