/**
 * A server as a process of its own, for tests that kill it: started as anyone starts it, on a free port and a data folder
 * that outlives it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import { forkOptions, type MemoryGroup } from '../host/memory-group.ts';
import { findProcessesByCommand, listChildren, listDescendants } from '../host/processes.ts';
import { type RequestOptions, sendRequest, type TestResponse } from '../http/request.ts';

export interface ServerProcessSettings {
  dataFolder: string;
  /** `SWITCHYARD_*` settings over the defaults of tests. */
  env?: Record<string, string>;
  /** The module that is started, with its arguments; `server-without-site.ts` when left out. */
  main?: { path: string; args: readonly string[] };
  /** A program that starts Node with what stands behind its own arguments, such as `unshare`. */
  wrapper?: { program: string; args: readonly string[] };
  /** The id of the user it runs as, for tests that run as root; its group has the same. */
  user?: number;
  /** How many descriptors it may have open; as many as this process when left out. */
  fileDescriptorLimit?: number;
  /** The memory cgroup that it is started in. */
  memoryGroup?: MemoryGroup;
  /** Called with what it writes to its log, a line of JSON at a time. */
  onLog?(line: string): void;
}

export interface ServerProcess {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | string>;
  readonly client: Client;
  request(method: string, path: string, ask?: RequestOptions): Promise<TestResponse>;
  /** Sends a message to the module that was started. */
  send(message: object): void;
  /** The process that starts the apps, while there is one. */
  findLauncherPid(): number | undefined;
  /** The processes of the launcher's apps, all of them. */
  listAppPids(): number[];
  /** SIGKILL unless said otherwise; resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<number | string>;
}

interface Started {
  url: string;
  tokenPath: string;
}

const MAIN = join(import.meta.dirname, 'server-without-site.ts');

/** Starts a server and waits until it listens; throws with what it wrote when it does not. */
export async function startServerProcess(settings: ServerProcessSettings): Promise<ServerProcess> {
  const { path, args } = settings.main ?? { path: MAIN, args: [] };
  const child = fork(path, args, {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      SWITCHYARD_PORT: '0',
      SWITCHYARD_DATA: settings.dataFolder,
      SWITCHYARD_RATE_LIMIT: '0',
      SWITCHYARD_LOG_LEVEL: 'warn',
      ...settings.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    ...(settings.user === undefined ? {} : { uid: settings.user, gid: settings.user, cwd: '/' }),
    // The test runner's own flags are none of the server's business.
    execArgv: [],
    ...(settings.wrapper
      ? { execPath: settings.wrapper.program, execArgv: [...settings.wrapper.args, process.execPath] }
      : {}),
    ...(settings.memoryGroup && forkOptions(settings.memoryGroup)),
    ...(settings.fileDescriptorLimit === undefined
      ? {}
      : {
          execPath: '/bin/sh',
          execArgv: ['-c', `ulimit -n ${settings.fileDescriptorLimit}; exec "$0" "$@"`, process.execPath],
        }),
  });
  let written = '';
  let line = '';
  const hear = (chunk: Buffer): void => {
    written = (written + chunk.toString()).slice(-8000);
    const lines = (line + chunk.toString()).split('\n');
    line = lines.pop() ?? '';
    for (const one of lines) settings.onLog?.(one);
  };
  child.stderr?.on('data', hear);
  child.stdout?.on('data', hear);
  const gone = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0)),
  );
  const started = await Promise.race([
    new Promise<Started>((resolve) => child.once('message', (message) => resolve(message as Started))),
    gone.then((how) => {
      throw new Error(`The server ended with ${how} before it listened: ${written}`);
    }),
  ]);
  return wrap(child, started, gone);
}

function wrap(child: ChildProcess, started: Started, gone: Promise<number | string>): ServerProcess {
  const pid = child.pid ?? 0;
  const launcher = (): number | undefined =>
    listChildren(pid).find((one) => findProcessesByCommand('launcher.ts').includes(one));
  // Of several processes on one database only the first makes a token.
  const token = existsSync(started.tokenPath) ? readFileSync(started.tokenPath, 'utf8').trim() : '';
  return {
    url: started.url,
    token,
    pid,
    client: createClient({ url: started.url, token }),
    request: (method, path, ask = {}) => sendRequest(`${started.url}${path}`, method, token, ask),
    exited: gone,
    send: (message) => child.connected && child.send(message, () => undefined),
    findLauncherPid: launcher,
    listAppPids() {
      const parent = launcher();
      return parent === undefined ? [] : listDescendants(parent).slice(1);
    },
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      return gone;
    },
  };
}
