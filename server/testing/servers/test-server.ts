/**
 * A server for tests in this process, on a free port, with its own data folder and database. Tests send HTTP requests to it,
 * and wait for its notifications in place of time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { inject } from 'vitest';
import { ResultsWorkerPool } from '../../experiments/results/results-worker-pool.ts';
import { type RunningServer, startServer } from '../../main.ts';
import type { ResolveName } from '../../ops/webhooks/addresses.ts';
import type { Clock } from '../../platform/clock.ts';
import { readConfig } from '../../platform/config.ts';
import type { Database, Topic } from '../../platform/database/database.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { createLog } from '../../platform/log.ts';
import { findAuthorityPath } from '../../platform/tls/self-signed.ts';
import { dropDatabase } from '../database/postgres-server.ts';
import { copySqliteTemplate, createPostgresDatabase } from '../database/test-database.ts';
import { type RequestOptions, sendRequest, type TestResponse } from '../http/request.ts';
import { trustAuthority } from '../http/tls-clients.ts';

export type { RequestOptions, TestResponse } from '../http/request.ts';

export interface TestServerSettings {
  /** `SWITCHYARD_*` settings over the defaults of tests. */
  env?: Record<string, string>;
  clock?: Clock;
  site?: string;
  console?: string;
  resolve?: ResolveName;
}

export interface TestServer {
  readonly url: string;
  readonly token: string;
  readonly client: Client;
  readonly dataFolder: string;
  /** The address of its database on PostgreSQL; empty on SQLite. */
  readonly databaseUrl: string;
  readonly runningServer: RunningServer;
  /** Sends a request; resolves for every status. `path` is a URL or begins with `/`. */
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
  /** Creates a key of the role and returns its token. */
  createKey(role: Role): Promise<{ id: string; token: string }>;
  /** Checks the condition now and after each notification of the topic, until it holds; returns its result. */
  waitUntil<T>(topic: Topic, condition: () => Promise<T | null | undefined | false>): Promise<T>;
  /** Stops the server and starts it again on the same data; `env` overrides settings. */
  restart(env?: Record<string, string>): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Checks the condition now and after each notification, until it holds. */
async function waitForTopic<T>(
  database: Pick<Database, 'listen'>,
  topic: Topic,
  condition: () => Promise<T | null | undefined | false>,
): Promise<T> {
  let notify = (): void => {};
  const stop = database.listen(topic, () => notify());
  try {
    for (;;) {
      // The promise exists before the condition is checked, so that no notification in between is lost.
      const notification = new Promise<void>((resolve) => {
        notify = resolve;
      });
      const result = await condition();
      if (result !== null && result !== undefined && result !== false) return result;
      await notification;
    }
  } finally {
    stop();
  }
}

/** The start of a thread takes a fifth of a second, as much as a start of a server. */
const resultsWorkerPool = new ResultsWorkerPool();

/** Starts a server with an empty database. Close it after the test. */
export async function startTestServer(settings: TestServerSettings = {}): Promise<TestServer> {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-test-'));
  const postgres = inject('postgres');
  const { name, address } = postgres ? await createPostgresDatabase() : { name: '', address: '' };
  const start = (env: Record<string, string> = {}): Promise<RunningServer> =>
    startServer(
      readConfig({
        SWITCHYARD_PORT: '0',
        SWITCHYARD_DATA: data,
        SWITCHYARD_RATE_LIMIT: '0',
        ...(address ? { SWITCHYARD_DATABASE: address } : {}),
        ...settings.env,
        ...env,
      }),
      {
        log: createLog(process.env.TEST_LOG === undefined ? 'silent' : 'debug'),
        launchesOnDemand: true,
        resultsWorkerPool,
        ...(settings.clock ? { clock: settings.clock } : {}),
        ...(settings.resolve ? { resolveHostname: settings.resolve } : {}),
        ...(settings.site ? { site: settings.site } : {}),
        ...(settings.console ? { console: settings.console } : {}),
      },
    );
  if (!postgres) copySqliteTemplate(sqlitePath(data));
  let running = await start();
  if (running.url.startsWith('https:'))
    trustAuthority(settings.env?.SWITCHYARD_TLS_CERT ?? findAuthorityPath(data));
  const token = running.firstStart?.token ?? '';

  const server: TestServer = {
    get url() {
      return running.url;
    },
    get client() {
      return createClient({ url: running.url, token });
    },
    get runningServer() {
      return running;
    },
    token,
    dataFolder: data,
    databaseUrl: address,
    request: (method, path, options = {}) =>
      sendRequest(path.startsWith('/') ? `${running.url}${path}` : path, method, token, options),
    async createKey(role) {
      const { body } = await server.client.call('createKey', { body: { name: `test ${role}`, role } });
      return { id: body.id, token: body.token };
    },
    waitUntil: (topic, condition) => waitForTopic(running.database, topic, condition),
    async restart(env) {
      await running.close();
      running = await start(env);
    },
    async close() {
      await running.close();
      rmSync(data, { recursive: true, force: true });
      if (postgres) await dropDatabase(postgres, name);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
  return server;
}
