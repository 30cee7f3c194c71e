/** The program: `node server/process.ts` runs the server as a process. */
import { join } from 'node:path';
import { type ServerOverrides, startServer } from './main.ts';
import { ConfigError, readConfig } from './platform/config.ts';
import { isDiskFull } from './platform/http/errors/service-unavailable.ts';
import { errorMessage } from './platform/log.ts';
import { findAuthorityPath } from './platform/tls/self-signed.ts';

/**
 * Runs the server with the settings of the environment. SIGTERM and SIGINT drain it. The end of a parent process with an IPC
 * channel drains it too, so that no old server keeps the port of a new one.
 */
async function main(overrides: ServerOverrides): Promise<void> {
  const config = readConfig();
  const repository = join(import.meta.dirname, '..');
  const built = { site: join(repository, 'site', 'dist'), console: join(repository, 'console', 'dist') };
  const hasParentChannel = process.send !== undefined;
  const server = await startServer(config, { ...built, ...overrides });
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`After ${signal} the server could not close cleanly: ${errorMessage(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('disconnect', () => stop('the end of the process that started it'));
  if (hasParentChannel && !process.connected) return stop('the end of the process that started it');
  process.send?.({
    url: server.url,
    publicUrl: config.publicUrl ?? server.url,
    authorityPath: config.tls?.kind === 'self-signed' ? findAuthorityPath(config.data) : null,
    role: config.role,
    tokenPath: join(config.data, 'root-token'),
    isFirstStart: server.firstStart !== null,
    containment: server.runner?.host.containment ?? null,
    containmentNote: server.runner?.host.containmentReason ?? '',
    notHeld: server.runner?.host.notHeld ?? [],
  });
}

/** Starts the server, or writes the reason to standard error and ends the process with 1. Chaos tests pass `overrides`. */
export async function runProcess(overrides: ServerOverrides = {}): Promise<void> {
  try {
    await main(overrides);
  } catch (error) {
    process.stderr.write(`${describeStartError(error)}\n`);
    process.exit(1);
  }
}

function describeStartError(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const problem = `The server could not start: ${errorMessage(error)}`;
  if (!isDiskFull(error)) return problem;
  return `${problem.replace(/\.$/, '')}. A disk is full: free space on the disk of SWITCHYARD_DATA, then start again.`;
}

if (import.meta.main) await runProcess();
