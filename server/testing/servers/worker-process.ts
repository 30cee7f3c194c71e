/** A remote worker for tests, in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { forkOptions, type MemoryGroup } from '../host/memory-group.ts';
import { locateTestProgram } from './test-programs.ts';
import type { TestServer } from './test-server.ts';

/** A running worker. */
export interface WorkerProcess {
  readonly process: ChildProcess;
  /** The lines that it logged so far. */
  readonly lines: readonly string[];
  /** Resolves with its exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  /** Resolves once a line of its log contains the text. Throws when the worker ends before. */
  waitForLine(text: string): Promise<void>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

interface WorkerProcessSettings {
  /** The memory cgroup of the process. */
  memoryGroup?: MemoryGroup;
  /** Called with each line of its log, which is JSON. */
  onLog?(line: string): void;
}

/** Starts a worker with the token. `url` is the address of the server, or of a proxy before it. */
export function startWorkerProcess(
  url: string,
  token: string,
  args: readonly string[] = [],
  { memoryGroup, onLog }: WorkerProcessSettings = {},
): WorkerProcess {
  const { execPath, execArgv } = memoryGroup
    ? forkOptions(memoryGroup)
    : { execPath: process.execPath, execArgv: [] };
  const child = spawn(
    execPath,
    [...execArgv, locateTestProgram('worker/process.ts'), '--server', url, ...args],
    {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...process.env, SWITCHYARD_WORKER_TOKEN: token },
    },
  );
  const lines: string[] = [];
  let notify = (): void => {};
  let hasEnded = false;
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    onLog?.(line);
    if (process.env.TEST_LOG !== undefined) process.stderr.write(`worker: ${line}\n`);
    notify();
  });
  const exited = once(child, 'close').then(([code]: (number | null)[]) => {
    hasEnded = true;
    notify();
    return code ?? null;
  });
  return {
    process: child,
    lines,
    exited,
    async waitForLine(text) {
      while (!lines.some((line) => line.includes(text))) {
        if (hasEnded) throw new Error(`The worker ended without "${text}" in its log:\n${lines.join('\n')}`);
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    },
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Creates a worker token of the account of the server's token. */
export async function createWorkerToken(
  server: Pick<TestServer, 'request'>,
  body: Record<string, unknown> = {},
): Promise<{ id: string; token: string }> {
  const response = await server.request('POST', '/v1/account/worker-tokens', {
    body: { name: 'Nodes', ...body },
  });
  if (response.status !== 201) throw new Error(`No worker token: ${response.text}`);
  return response.body as { id: string; token: string };
}
