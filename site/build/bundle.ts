import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, minifySync, type Rolldown, transformWithOxc } from 'vite';
import type { Assets, View } from '../page-data.ts';

const site = join(import.meta.dirname, '..');

/** What is built once for all pages. */
export type Bundle = {
  render: (view: View) => string;
  assets: Assets;
  /** Scripts by their address; the names hold a hash of the content. */
  files: Map<string, string>;
};

/** Entries that are style sheets; the bundler makes an empty script of each. */
const styleOnly = new Set(['styles', 'home']);

const quiet = { configFile: false, root: site, logLevel: 'warn', clearScreen: false } as const;

/** Compiles the components for Node and imports them once. The compiled file is gone afterwards. */
async function buildRenderer(): Promise<Bundle['render']> {
  const cache = join(site, '.cache');
  const folder = join(cache, `render-${process.pid}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  try {
    await build({
      ...quiet,
      build: {
        ssr: 'components/render.tsx',
        outDir: folder,
        emptyOutDir: true,
        minify: false,
        rollupOptions: { output: { entryFileNames: 'render.js' } },
      },
    });
    const module: { renderView: Bundle['render'] } = await import(
      pathToFileURL(join(folder, 'render.js')).href
    );
    return module.renderView;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compiles the islands and the style sheet for the browser, in memory. */
async function buildClient(): Promise<Pick<Assets, 'css' | 'homeCss' | 'script'> & Pick<Bundle, 'files'>> {
  const result = await build({
    ...quiet,
    build: {
      write: false,
      target: 'es2023',
      cssTarget: 'esnext',
      modulePreload: false,
      assetsInlineLimit: 0,
      rollupOptions: {
        input: {
          main: join(site, 'client/main.ts'),
          styles: join(site, 'styles/main.css'),
          home: join(site, 'styles/home.css'),
        },
        output: {
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          assetFileNames: 'assets/[name]-[hash][extname]',
        },
      },
    },
  });
  const { output } = outputOf(result);
  const files = new Map<string, string>();
  let css = '';
  let homeCss = '';
  let script = '';
  for (const file of output) {
    const isPageStyle = file.type === 'asset' && file.names.includes('styles.css');
    const isHomeStyle = file.type === 'asset' && file.names.includes('home.css');
    if (isPageStyle) css = String(file.source).trim();
    else if (isHomeStyle) homeCss = String(file.source).trim();
    else if (file.type === 'asset') files.set(`/${file.fileName}`, String(file.source));
    else if (file.type === 'chunk' && !styleOnly.has(file.name)) files.set(`/${file.fileName}`, file.code);
    if (file.type === 'chunk' && file.name === 'main') script = `/${file.fileName}`;
  }
  return { css, homeCss, script, files };
}

function outputOf(result: Awaited<ReturnType<typeof build>>): Rolldown.RolldownOutput {
  const first = Array.isArray(result) ? result[0] : result;
  if (!first || !('output' in first))
    throw new Error('The client build gave no output; it was started as a watcher.');
  return first;
}

/** Compiles one inline script to the text that stands in the page. */
async function inlineScript(name: string): Promise<string> {
  const path = join(site, 'client/inline', name);
  const { code } = await transformWithOxc(readFileSync(path, 'utf8'), path, { sourcemap: false });
  return minifySync(path.replace(/ts$/, 'js'), code).code.trim();
}

/** Compiles components, islands, inline scripts and the style sheet. */
export async function buildBundle(): Promise<Bundle> {
  const [render, client, head, tabs] = await Promise.all([
    buildRenderer(),
    buildClient(),
    inlineScript('head.ts'),
    inlineScript('tabs.ts'),
  ]);
  const speculation = JSON.stringify(
    JSON.parse(readFileSync(join(site, 'client/inline/speculation.json'), 'utf8')),
  );
  const { files, ...assets } = client;
  return { render, files, assets: { ...assets, inline: { head, tabs, speculation } } };
}
