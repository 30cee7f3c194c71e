/** `npm run backup`: installs what is missing and runs it; its arguments go to server/backup/backup-command.ts. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';

install({ development: false });
const file = join(root, 'server/backup/backup-command.ts');
const done = spawnSync(node, [file, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(done.status ?? 1);
