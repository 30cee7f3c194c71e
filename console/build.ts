/**
 * Builds the console into static files. `buildConsole` returns early when its inputs have not changed. Otherwise it
 * replaces the output folder as a whole, so a server never serves half a console.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compressFiles } from '@switchyard/static-build/compress.ts';
import { hashFiles, hashInputs } from '@switchyard/static-build/input-hash.ts';
import { replaceFolder } from '@switchyard/static-build/replace-folder.ts';

const folder = import.meta.dirname;
const repository = join(folder, '..');
const STAMP_FILE = 'input-hash.txt';
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
  if (readStamp(outDir) === inputs) return { outDir, wasBuilt: false };
  // The compiler takes half a second to load, which a build without changes does not need.
  const { bundleConsole } = await import('./build/bundle.ts');
  const { packSamples } = await import('./build/sample-archives.ts');
  const files = await bundleConsole();
  for (const [path, copy] of await compressFiles(files)) files.set(path, copy);
  for (const [path, content] of await packSamples(repository)) files.set(path, content);
  files.set(STAMP_FILE, inputs);
  replaceFolder(outDir, files);
  return { outDir, wasBuilt: true };
}

/** Returns undefined without a build. */
function readStamp(outDir: string): string | undefined {
  try {
    return readFileSync(join(outDir, STAMP_FILE), 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const started = performance.now();
  const { outDir, wasBuilt } = await buildConsole();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    wasBuilt
      ? `Built the console into ${outDir} in ${seconds} s.`
      : `Nothing has changed since the last build of ${outDir}.`,
  );
}
