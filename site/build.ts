/**
 * Builds the documentation site into static files. `buildSite` returns early when its inputs have not changed. Otherwise
 * it writes a new folder and then replaces the old one, so a server never serves half a site.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BUILD_ADDRESS } from '@switchyard/contract/site/site-address.ts';
import { compressFiles } from '@switchyard/static-build/compress.ts';
import { hashFiles, hashInputs } from '@switchyard/static-build/input-hash.ts';
import { replaceFolder } from '@switchyard/static-build/replace-folder.ts';
import { reportBuild } from '@switchyard/static-build/report-build.ts';
import { getLastCommit } from './generator/inputs/git.ts';
import { ContentError, formatProblem } from './generator/inputs/problems.ts';

const site = import.meta.dirname;
const repository = join(site, '..');
const stampFile = 'input-hash.txt';

export type BuildOptions = {
  /** The output folder; `site/dist` when absent. The build replaces it as a whole. */
  outDir?: string;
  /** The address of the site in sitemap.xml. */
  publicUrl?: string;
  /** Another folder than the site's own with `content/` and `pages/`, for tests. */
  contentRoot?: string;
};

export type BuildResult = {
  outDir: string;
  wasBuilt: boolean;
  pageCount: number;
  /** Gaps that the pages themselves report to their readers, as `file:line: sentence`. */
  warnings: string[];
};

/** The inputs and results of the last build, stored beside its files. */
type Stamp = {
  inputs: string;
  references: string[];
  referenced: string;
  pages: number;
  warnings: string[];
};

/** Builds the site. Throws ContentError, whose message has a line `file:line: sentence` for every mistake. */
export async function buildSite(options: BuildOptions = {}): Promise<BuildResult> {
  const outDir = resolve(options.outDir ?? join(site, 'dist'));
  const from = resolve(options.contentRoot ?? site);
  const publicUrl = options.publicUrl ?? BUILD_ADDRESS;
  const own = ['site', 'design', 'explorer', 'contract', 'cli'].map((name) => join(repository, name));
  const folders = from === site ? own : [...own, from];
  const inputs = hashInputs(folders, join(repository, 'package-lock.json'), [
    publicUrl,
    from,
    ...folders.map(getLastCommit),
  ]);
  const last = readStamp(outDir);
  if (last?.inputs === inputs && last.referenced === hashFiles(repository, last.references)) {
    return { outDir, wasBuilt: false, pageCount: last.pages, warnings: last.warnings };
  }

  // These modules load the compiler and the highlighter, which a build without changes does not need.
  const [{ readSite }, { buildBundle }, { renderSite }] = await Promise.all([
    import('./generator/pages/read-site.ts'),
    import('./generator/output/bundle.ts'),
    import('./generator/output/render-site.ts'),
  ]);
  const part = (name: string) => ({
    folder: join(from, name),
    name: from === site ? `site/${name}` : name,
  });
  const [read, bundle] = await Promise.all([
    readSite({ content: part('content'), pages: part('pages'), repository }),
    buildBundle(),
  ]);
  const files = renderSite(read, bundle, publicUrl);
  for (const [path, copy] of await compressFiles(files)) files.set(path, copy);
  const pages = read.docs.length + read.plain.length + 1;
  const { references } = read;
  const warnings = read.warnings.map(formatProblem);
  const stamp: Stamp = { inputs, references, referenced: hashFiles(repository, references), pages, warnings };
  files.set(stampFile, JSON.stringify(stamp));
  replaceFolder(outDir, files);
  return { outDir, wasBuilt: true, pageCount: pages, warnings };
}

/** Returns undefined for an unreadable stamp, so the site is built again. */
function readStamp(outDir: string): Stamp | undefined {
  try {
    const stamp: unknown = JSON.parse(readFileSync(join(outDir, stampFile), 'utf8'));
    return stamp as Stamp;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const started = performance.now();
  try {
    const { outDir, wasBuilt, pageCount, warnings } = await buildSite();
    for (const warning of warnings) console.warn(`Warning: ${warning}`);
    reportBuild({ path: outDir, built: `${pageCount} pages into ${outDir}`, wasBuilt }, started);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
