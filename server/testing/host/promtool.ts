/** The program that checks rules of Prometheus. `npm test` fetches it where it can (scripts/tools.mjs). */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const OWN = join(import.meta.dirname, '..', '..', '..', '.cache', 'promtool');

/** Returns the path of promtool; null without one, after a line that says so. */
export function findPromtool(): string | null {
  if (existsSync(OWN)) return OWN;
  const found = spawnSync('sh', ['-c', 'command -v promtool'], { encoding: 'utf8' }).stdout.trim();
  if (found === '') console.warn('SKIPPING checks of alert rules by promtool: it is not installed.');
  return found || null;
}

/** Runs promtool to its end; returns what it printed. Throws with that when it fails. */
export function runPromtool(path: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(path, args, { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
