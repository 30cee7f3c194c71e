/**
 * Builds the console into static files. `buildConsole` returns early when its inputs have not changed. Otherwise it
 * replaces the output folder as a whole, so a server never serves half a console.
 */
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compressFiles } from '@switchyard/static-build/compress.ts';
import { hashFiles, hashInputs } from '@switchyard/static-build/input-hash.ts';
import { rebuildFolder } from '@switchyard/static-build/rebuild-folder.ts';
import { reportBuild } from '@switchyard/static-build/report-build.ts';

const folder = import.meta.dirname;
const repository = join(folder, '..');
/** Files of the sample apps that decide their archives. Build steps write others, which must not start a build each time. */
const SAMPLE_PATTERNS = [
  'sample-apps/*/{app.yaml,input.json,package.json,README.md,*.ts,*.py}',
  'sample-apps/*/src/**/*.ts',
  'sample-apps/*/bin/**/main',
];
const INPUT_FOLDERS = ['console', 'design', 'contract'];

export interface BuildResult {
  outDir: string;
  wasBuilt: boolean;
}

/** Builds the console into `outDir`, by default `console/dist`. */
export async function buildConsole(options: { outDir?: string } = {}): Promise<BuildResult> {
  const outDir = resolve(options.outDir ?? join(folder, 'dist'));
  const inputs = hashInputs(
    INPUT_FOLDERS.map((name) => join(repository, name)),
    join(repository, 'package-lock.json'),
    [hashFiles(repository, globSync(SAMPLE_PATTERNS, { cwd: repository }).sort())],
  );
  const wasBuilt = await rebuildFolder(outDir, inputs, async () => {
    // The compiler takes half a second to load, which a build without changes does not need.
    const { bundleConsole } = await import('./build/bundle.ts');
    const { packSamples } = await import('./build/sample-archives.ts');
    const files = await bundleConsole();
    for (const [path, copy] of await compressFiles(files)) files.set(path, copy);
    for (const [path, content] of await packSamples(repository)) files.set(path, content);
    return files;
  });
  return { outDir, wasBuilt };
}

if (import.meta.main) {
  const started = performance.now();
  const { outDir, wasBuilt } = await buildConsole();
  reportBuild({ path: outDir, built: `the console into ${outDir}`, wasBuilt }, started);
}
