/**
 * Builds the package `switchyard`: the command line with its dependencies as JavaScript for every Node from version 20.
 * `buildCommandLine` returns early when its inputs have not changed. Otherwise it replaces the output folder as a whole.
 */
import { join, resolve } from 'node:path';
import { hashFiles, hashInputs } from '@switchyard/static-build/input-hash.ts';
import { rebuildFolder } from '@switchyard/static-build/rebuild-folder.ts';
import { reportBuild } from '@switchyard/static-build/report-build.ts';
import { VERSION } from './session/version.ts';

const folder = import.meta.dirname;
const repository = join(folder, '..');
const INPUT_FOLDERS = ['cli', 'contract', 'runner', 'worker', 'solver-logs'];

interface BuildResult {
  /** Path of the package for `npm install`. */
  tarball: string;
  wasBuilt: boolean;
}

/** Builds the package into `outDir`, by default `cli/dist`: as the folder `package`, and packed. */
export async function buildCommandLine(options: { outDir?: string } = {}): Promise<BuildResult> {
  const outDir = resolve(options.outDir ?? join(folder, 'dist'));
  const tarballName = `switchyard-${VERSION}.tgz`;
  const inputs = hashInputs(
    INPUT_FOLDERS.map((name) => join(repository, name)),
    join(repository, 'package-lock.json'),
    [hashFiles(repository, ['LICENSE', 'package.json'])],
  );
  const wasBuilt = await rebuildFolder(outDir, inputs, async () => {
    // The compiler takes half a second to load, which a build without changes does not need.
    const { createPackageFiles, createTarball } = await import('./build/package-files.ts');
    const files = await createPackageFiles();
    const output = new Map<string, string | Uint8Array>([[tarballName, await createTarball(files)]]);
    for (const [path, content] of files) output.set(`package/${path}`, content);
    return output;
  });
  return { tarball: join(outDir, tarballName), wasBuilt };
}

if (import.meta.main) {
  const started = performance.now();
  const { tarball, wasBuilt } = await buildCommandLine();
  reportBuild({ path: tarball, wasBuilt }, started);
}
