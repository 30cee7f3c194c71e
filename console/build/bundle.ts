/** Compiles the console with Vite, in memory. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import react from '@vitejs/plugin-react';
import { build, type InlineConfig, type Rolldown } from 'vite';
import { operationTable } from './operation-table.ts';

const root = join(import.meta.dirname, '..');
const chartjsFolder = dirname(createRequire(import.meta.url).resolve('chart.js'));

/**
 * One file for what starts the console, and one for the modules that three quarters of the forty pages share. Without them they
 * are a hundred files of a few hundred bytes: the first page loads 18 scripts instead of 78, and 20 % fewer bytes. A smaller
 * share adds libraries of some pages to all.
 */
const GROUPS: Rolldown.CodeSplittingGroup[] = [
  { name: 'main', tags: ['$initial'], priority: 1 },
  { name: 'shared', minShareCount: 30 },
];

const CHART_FRAME = 'frame.html';
const FRAMES = [CHART_FRAME, 'page-frame.html'];
/** Names of the libraries that draw charts of apps (ui/assets/app-frame.tsx). */
const LIBRARY_NAME = /^assets\/(?:chart\.umd|plotly)\.min-[^/]*\.js$/;
const LIBRARY_COUNT = 2;

/** A test runner sets `NODE_ENV=test`, for which Vite takes React's slower build of twice the size. */
async function buildForProduction(options: InlineConfig): ReturnType<typeof build> {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    return await build(options);
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** Returns the files of the console by path. */
export async function bundleConsole(): Promise<Map<string, string | Buffer>> {
  const result = await buildForProduction({
    configFile: false,
    root,
    base: '/console/',
    logLevel: 'warn',
    clearScreen: false,
    // Chart.js exports its modules alone; a frame without a network needs the one file with all of it.
    resolve: { alias: [{ find: /^chart\.js\/dist/, replacement: chartjsFolder }] },
    plugins: [operationTable(), react()],
    css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:4]' } },
    build: {
      write: false,
      target: 'es2023',
      cssTarget: 'esnext',
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 6000,
      rollupOptions: { input: join(root, 'index.html'), output: { codeSplitting: { groups: GROUPS } } },
    },
  });
  const files = new Map<string, string | Buffer>();
  for (const file of getOutput(result)) {
    files.set(file.fileName, file.type === 'asset' ? Buffer.from(file.source) : file.code);
  }
  // The frames are no pages of the build: their scripts stand in them, because their policies let them load nothing.
  for (const name of FRAMES) files.set(name, readFileSync(join(root, name)));
  files.set('csp.json', formatPolicy(files));
  return files;
}

/** Returns the hashes of the scripts that stand in a page: that of the console, and those of the frame of charts with its libraries. */
function formatPolicy(files: ReadonlyMap<string, string | Buffer>): string {
  const libraries = [...files].filter(([name]) => LIBRARY_NAME.test(name)).map(([, content]) => content);
  if (libraries.length !== LIBRARY_COUNT)
    throw new Error(`The console has ${libraries.length} libraries of charts instead of ${LIBRARY_COUNT}.`);
  return JSON.stringify({
    page: [readScript(files, 'index.html')].map(hashScript),
    scripts: [readScript(files, CHART_FRAME), ...libraries].map(hashScript),
  });
}

function readScript(files: ReadonlyMap<string, string | Buffer>, name: string): string {
  const [, script] = /<script>(.*?)<\/script>/s.exec(String(files.get(name))) ?? [];
  if (script === undefined) throw new Error(`${name} has no script.`);
  return script;
}

function hashScript(text: string | Buffer): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function getOutput(result: Awaited<ReturnType<typeof build>>): Rolldown.RolldownOutput['output'] {
  const first = Array.isArray(result) ? result[0] : result;
  if (!first || !('output' in first))
    throw new Error('The build has no output, because it was started as a watcher.');
  return first.output;
}
