/** A folder with the parts of a built console that the server needs to serve community apps. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A list with one app; its archive only has to exist. */
const ONE_APP = {
  'samples/community.json': JSON.stringify({
    apps: [
      {
        name: 'knapsack',
        type: 'python',
        description: 'Chooses projects within a budget.',
        app_versions: ['v1.0.0'],
        latest_app_version: 'v1.0.0',
      },
    ],
  }),
  'samples/knapsack.tgz': 'archive',
  'samples/unlisted.tgz': 'archive',
};

/** A temporary folder. Dispose of it after the server has started. */
export interface ConsoleFolder extends Disposable {
  readonly path: string;
}

/** Creates the folder with a page and the files, by default with the list and the archive of one community app. */
export function createConsoleFolder(
  files: Iterable<readonly [string, string | Buffer]> = Object.entries(ONE_APP),
): ConsoleFolder {
  const path = mkdtempSync(join(tmpdir(), 'switchyard-console-'));
  for (const [name, content] of [['index.html', '<title>Console</title>'] as const, ...files]) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
