/**
 * A server in its own process, for tests that kill it. It listens on a free port, and its data folder stays after its end.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import { forkOptions, type MemoryGroup } from '../host/memory-group.ts';
import { findProcessesByCommand, listChildren, listDescendants } from '../host/processes.ts';
import { type RequestOptions, sendRequest, type TestResponse } from '../http/request.ts';
import { locateTestProgram } from './test-programs.ts';

const MAIN = 'server/testing/servers/server-without-site.ts';

export interface ServerProcessSettings {
  dataFolder: string;
  /** `SWITCHYARD_*` settings over the defaults of tests. */
  env?: Record<string, string>;
  /** The module to start and its arguments; the default is `server-without-site.ts`. */
  main?: { path: string; args: readonly string[] };
  /** A program that executes Node with the arguments after its own, such as `unshare`. */
  wrapper?: { program: string; args: readonly string[] };
  /** The user and group id of the process, for tests that run as root. */
  user?: number;
  /** The limit on open descriptors; the default is that of this process. */
  fileDescriptorLimit?: number;
  /** The memory cgroup of the process. */
  memoryGroup?: MemoryGroup;
  /** Called with each line of its log, which is JSON. */
  onLog?(line: string): void;
}

export interface ServerProcess {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | string>;
  readonly client: Client;
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
  /** Sends a message to the started module. */
  send(message: object): void;
  /** Returns the id of the launcher, which starts the apps; undefined when it does not run. */
  findLauncherPid(): number | undefined;
  /** Lists all processes below the launcher. */
  listAppPids(): number[];
  /** Sends the signal, SIGKILL by default; resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<number | string>;
}

interface Started {
  url: string;
  tokenPath: string;
}

/** Starts a server and waits until it listens; throws with its output when it ends before. */
export async function startServerProcess(settings: ServerProcessSettings): Promise<ServerProcess> {
  const { path, args } = settings.main ?? { path: locateTestProgram(MAIN), args: [] };
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
    // Without the flags of the test runner.
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
  let output = '';
  let line = '';
  const readOutput = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-8000);
    const lines = (line + chunk.toString()).split('\n');
    line = lines.pop() ?? '';
    for (const complete of lines) settings.onLog?.(complete);
  };
  child.stderr?.on('data', readOutput);
  child.stdout?.on('data', readOutput);
  const exited = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0)),
  );
  const started = await Promise.race([
    new Promise<Started>((resolve) => child.once('message', (message) => resolve(message as Started))),
    exited.then((how) => {
      throw new Error(`The server ended with ${how} before it listened: ${output}`);
    }),
  ]);
  return createServerProcess(child, started, exited);
}

function createServerProcess(
  child: ChildProcess,
  started: Started,
  exited: Promise<number | string>,
): ServerProcess {
  const pid = child.pid ?? 0;
  const findLauncherPid = (): number | undefined =>
    listChildren(pid).find((childPid) => findProcessesByCommand('launcher.ts').includes(childPid));
  // Only the first of several processes on one database creates a token.
  const token = existsSync(started.tokenPath) ? readFileSync(started.tokenPath, 'utf8').trim() : '';
  return {
    url: started.url,
    token,
    pid,
    client: createClient({ url: started.url, token }),
    request: (method, path, options = {}) => sendRequest(`${started.url}${path}`, method, token, options),
    exited,
    send: (message) => child.connected && child.send(message, () => undefined),
    findLauncherPid,
    listAppPids() {
      const parent = findLauncherPid();
      return parent === undefined ? [] : listDescendants(parent).slice(1);
    },
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      return exited;
    },
  };
}
