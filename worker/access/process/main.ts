/**
 * The API proxy: a process beside the worker through which the apps of runs reach the API. It keeps their requests away from
 * the server's process, whose memory and event loop all accounts share, until they are within the bounds of their run.
 *
 * It knows the proofs of its runs and the address of the server. It has no key and no access to files, and a user of its own
 * where the worker is root. It ends when the worker ends.
 */
import { writeFileSync } from 'node:fs';
import type { ApiTarget, ProxiedAccess, ProxyMessage, ProxyRequest } from '../protocol.ts';
import { RESIDENT_BYTES_MAX } from './bounds.ts';
import { RunListener } from './run-listener.ts';

/** The kernel ends apps (1000) before this process, and this process before the server. */
const OOM_SCORE = 500;
const MEMORY_CHECK_INTERVAL_MS = 500;

let target: ApiTarget | null = null;
const listeners = new Map<string, RunListener>();

async function handle(request: ProxyRequest, port: unknown): Promise<void> {
  if (request.type === 'target') target = request.target;
  if (request.type === 'open') await open(request.access, port);
  if (request.type === 'prove') {
    const listener = listeners.get(request.id);
    if (listener) listener.proof = request.proof;
  }
  if (request.type === 'close') {
    const { id } = request;
    await listeners.get(id)?.close();
    listeners.delete(id);
    send({ type: 'closed', id });
  }
}

async function open(access: ProxiedAccess, port: unknown): Promise<void> {
  const { id } = access;
  const listener = new RunListener({
    ...{ access, port },
    findTarget: () => target,
    countRuns: () => Math.max(1, listeners.size),
  });
  listeners.set(id, listener);
  try {
    send({ type: 'opened', id, port: await listener.listen() });
  } catch (error) {
    listeners.delete(id);
    send({ type: 'failed', id, error: String(error) });
  }
}

/** Does nothing when the worker is gone. */
function send(message: ProxyMessage): void {
  if (process.connected) process.send?.(message, () => undefined);
}

function checkMemory(): void {
  const bytes = process.memoryUsage.rss();
  if (bytes <= RESIDENT_BYTES_MAX) return;
  process.stderr.write(`The API proxy ends: it uses ${bytes} bytes of memory.\n`);
  process.exit(1);
}

function dropRights(user: number): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE));
  } catch {
    // Not Linux, or a system that forbids it.
  }
  if (user === 0) return;
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}

// The worker passes the user id as an argument; 0 keeps that of the worker.
dropRights(Number(process.argv[2] ?? 0));
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
setInterval(checkMemory, MEMORY_CHECK_INTERVAL_MS);
process.on('message', (request: ProxyRequest, port: unknown) => void handle(request, port));
process.on('disconnect', () => process.exit(0));
