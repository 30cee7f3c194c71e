/** `npm run chaos`: installs what the chaos test needs and runs it; what stands behind `--` is handed on. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();
const chaos = spawn(node, [join(root, 'chaos', 'main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// Ctrl-C at a terminal reaches it by itself too, and it takes the second word for what it is. This process waits until
// everything is cleared away.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => chaos.kill('SIGTERM'));
}
chaos.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
