#!/usr/bin/env node
/** The command `switchyard` in a clone of the repository: runs its source with the project's own Node. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
process.env.NODE_COMPILE_CACHE ??= join(root, '.cache', 'compiled');
const child = spawn(
  join(root, 'node_modules', '.bin', 'node'),
  [join(root, 'cli', 'main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  // Ctrl-C at a terminal signals the child too; it treats the second signal as a wish to end at once.
  process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
}
child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
