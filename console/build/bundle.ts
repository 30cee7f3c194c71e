/** Compiles the console with Vite, in memory. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import react from '@vitejs/plugin-react';
import { build, type InlineConfig, type Plugin, type Rolldown } from 'vite';
import { operationTable } from './operation-table.ts';

const root = join(import.meta.dirname, '..');
const BASE = '/console/';
const chartjsFolder = dirname(createRequire(import.meta.url).resolve('chart.js'));

/** Draws inputs, outputs and plans, which most pages do not need. CodeMirror loads when a text is edited. */
const CONTENT = /console.ui.(assets|content(?!.code-editor)|maps|solution)|-virtual|virtual-core/;
/** Schemas of the contract, which a few forms check themselves. */
const SCHEMAS = /typebox|contract.(account|applications|operation|schemas)/;
/** The file that nearly every page needs beside the one that starts the console. */
const SHARED = 'shared';

/**
 * A page loads the file that starts the console, the one that pages share, perhaps the one with content, and its own. Without
 * the groups there are 150 files, and 50 of them on the run page.
 */
const GROUPS: Rolldown.CodeSplittingGroup[] = [
  { name: 'main', tags: ['$initial'], priority: 3 },
  { name: SHARED, test: (id) => !CONTENT.test(id) && !SCHEMAS.test(id), minShareCount: 3, priority: 2 },
  { name: 'content', test: CONTENT, minShareCount: 2, priority: 1 },
];

/** Loads the shared file together with the one that starts the console, so that a page needs two requests in a row. */
const preloadShared: Plugin = {
  name: 'preload-shared',
  transformIndexHtml: {
    order: 'post',
    handler: (_page, { bundle }) =>
      Object.values(bundle ?? {})
        .filter((file) => file.type === 'chunk' && file.name === SHARED)
        .map(({ fileName }) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', href: `${BASE}${fileName}` },
          injectTo: 'head',
        })),
  },
};

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
    base: BASE,
    logLevel: 'warn',
    clearScreen: false,
    // Chart.js exports its modules alone; a frame without a network needs the one file with all of it.
    resolve: { alias: [{ find: /^chart\.js\/dist/, replacement: chartjsFolder }] },
    plugins: [operationTable(), react(), preloadShared],
    css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:4]' } },
    build: {
      write: false,
      target: 'es2023',
      cssTarget: 'esnext',
      // One file of 21 kB instead of 7 to 21 on a page.
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 6000,
      rollupOptions: { input: join(root, 'index.html'), output: { codeSplitting: { groups: GROUPS } } },
    },
  });
  const files = new Map<string, string | Buffer>();
  for (const file of getOutput(result)) {
    if (file.type === 'chunk' && file.isEntry) refuseSchemas(file);
    files.set(file.fileName, file.type === 'asset' ? Buffer.from(file.source) : file.code);
  }
  // The frames are no pages of the build: their scripts stand in them, because their policies let them load nothing.
  for (const name of FRAMES) files.set(name, readFileSync(join(root, name)));
  files.set('csp.json', formatPolicy(files));
  return files;
}

/** The library of schemas is 30 kB of every page. A value that stands beside a schema of the contract brings it. */
function refuseSchemas({ modules }: Rolldown.OutputChunk): void {
  if (Object.keys(modules).some((id) => id.includes('typebox')))
    throw new Error(
      'The first script of the console has the library of schemas. A route imports a value from a file with schemas: give the value a file of its own.',
    );
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
