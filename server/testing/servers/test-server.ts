/**
 * A real server for tests: in this process, on a free port, with a data folder and a database of its own. Tests speak to it
 * as anyone does, by HTTP; what they wait for, they wait for by the server's own news.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { inject } from 'vitest';
import type { Clock } from '../../clock.ts';
import { readConfig } from '../../config.ts';
import type { Topic } from '../../database/database.ts';
import { sqlitePath } from '../../database/open.ts';
import { createLog } from '../../log.ts';
import { type RunningServer, startServer } from '../../main.ts';
import type { ResolveName } from '../../webhooks/addresses.ts';
import { dropDatabase } from '../database/postgres-server.ts';
import { copySqliteTemplate, createPostgresDatabase } from '../database/test-database.ts';
import { type RequestOptions, sendRequest, type TestResponse } from '../http/request.ts';

export type { RequestOptions, TestResponse } from '../http/request.ts';

export interface TestServerSettings {
  /** `SWITCHYARD_*` settings over the defaults of tests. */
  env?: Record<string, string>;
  clock?: Clock;
  site?: string;
  resolve?: ResolveName;
}

export interface TestServer {
  readonly url: string;
  readonly token: string;
  readonly client: Client;
  readonly dataFolder: string;
  /** Of its database on PostgreSQL; empty on SQLite. */
  readonly databaseUrl: string;
  readonly runningServer: RunningServer;
  /** Any request, with any status taken as an answer. `path` is absolute or begins with `/`. */
  request(method: string, path: string, ask?: RequestOptions): Promise<TestResponse>;
  /** A new key of the role, with its token. */
  createKey(role: Role): Promise<{ id: string; token: string }>;
  /** Waits for news of the topic until the condition holds; it is also looked at before the first news. */
  waitUntil<T>(topic: Topic, condition: () => Promise<T | null | undefined | false>): Promise<T>;
  /** Stops the server and starts it again on the same data, with other settings where given. */
  restart(env?: Record<string, string>): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

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
        ...(settings.clock ? { clock: settings.clock } : {}),
        ...(settings.resolve ? { resolveHostname: settings.resolve } : {}),
        ...(settings.site ? { site: settings.site } : {}),
      },
    );
  if (!postgres) copySqliteTemplate(sqlitePath(data));
  let running = await start();
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
    request: (method, path, ask = {}) =>
      sendRequest(path.startsWith('/') ? `${running.url}${path}` : path, method, token, ask),
    async createKey(role) {
      const { body } = await server.client.call('createKey', { body: { name: `test ${role}`, role } });
      return { id: body.id, token: body.token };
    },
    async waitUntil(topic, condition) {
      let tell = (): void => {};
      const stop = running.database.listen(topic, () => tell());
      try {
        for (;;) {
          const news = new Promise<void>((resolve) => {
            tell = resolve;
          });
          const found = await condition();
          if (found !== null && found !== undefined && found !== false) return found;
          await news;
        }
      } finally {
        stop();
      }
    },
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
