/** `npm run build` builds everything that the server serves; `npm start` uses it too. Unchanged parts are skipped. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, install, node, root } from './install.mjs';

/** The parts of the repository that are built, each into the folder `dist` in its own. */
export const PARTS = [
  { folder: 'site', name: 'the documentation site' },
  { folder: 'console', name: 'the console' },
  { folder: 'cli', name: 'the command line' },
];

/** Builds the site, the console and the command line, and ends the process when one fails. */
export function buildAll() {
  for (const { folder, name } of PARTS) {
    if (!existsSync(join(root, folder, 'dist'))) console.log(`Building ${name} ...`);
    const built = spawnSync(node, [join(root, folder, 'build.ts')], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (built.status !== 0) fail(`The build of ${name} failed; see the messages above.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  install({ development: false });
  buildAll();
}
