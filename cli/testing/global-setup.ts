/**
 * Bundles the programs that tests start dozens of times as processes, once before all tests. The server has 2,300 modules, and
 * loading them takes a second of a core for each start. A start of the bundle takes half as long.
 *
 * A bundle behaves like the sources: each module keeps its own `import.meta`, so threads and further programs start from
 * the sources. The first start of the product, its package and its upgrades are tested without it.
 */
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listTestPrograms, locateTestProgram } from '@switchyard/server/testing/servers/test-programs.ts';
import { hashInputs } from '@switchyard/static-build/input-hash.ts';
import { rebuildFolder } from '@switchyard/static-build/rebuild-folder.ts';
import { type Plugin, rolldown } from 'rolldown';

const repository = join(import.meta.dirname, '..', '..');
const outFolder = join(repository, '.cache', 'test-programs');
const INPUT_FOLDERS = ['cli', 'contract', 'runner', 'server', 'solver-logs', 'static-build', 'worker'];

/** Entry points by the name of their file in the bundle. */
const ENTRIES = Object.fromEntries(
  listTestPrograms().map((path) => [
    relative(outFolder, locateTestProgram(path, outFolder)),
    join(repository, path),
  ]),
);

/** Gives each module the place of its source. */
const ownPlaces: Plugin = {
  name: 'own-places',
  transform(code, id) {
    if (!code.includes('import.meta.')) return null;
    const values = {
      dirname: JSON.stringify(join(id, '..')),
      filename: JSON.stringify(id),
      url: JSON.stringify(pathToFileURL(id).href),
      main: String(Object.values(ENTRIES).includes(id)),
    };
    return code.replaceAll(
      /import\.meta\.(dirname|filename|url|main)\b/g,
      (_, name: keyof typeof values) => values[name],
    );
  },
};

async function bundle(): Promise<Map<string, string>> {
  const build = await rolldown({ input: ENTRIES, plugins: [ownPlaces], platform: 'node' });
  try {
    const { output } = await build.generate({
      format: 'esm',
      entryFileNames: '[name]',
      chunkFileNames: '[name]-[hash].mjs',
    });
    return new Map(
      output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code] as const] : [])),
    );
  } finally {
    await build.close();
  }
}

/** Bundles the programs unless nothing has changed since the last time. Returns their folder. */
async function bundleTestPrograms(): Promise<string> {
  const folders = INPUT_FOLDERS.map((name) => join(repository, name));
  const inputs = hashInputs(folders, join(repository, 'package-lock.json'), [repository]);
  await rebuildFolder(outFolder, inputs, bundle);
  return outFolder;
}

/** Set-up of the test runner. Its processes inherit the folder. */
export default async function setup(): Promise<void> {
  process.env.TEST_PROGRAMS ??= await bundleTestPrograms();
}

if (import.meta.main) console.log(await bundleTestPrograms());
