import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, minifySync, type Rolldown, transformWithOxc } from 'vite';
import type { Assets, View } from '../../page-data.ts';

const site = join(import.meta.dirname, '..', '..');

/** Renderer, styles and scripts, built once for all pages. */
export type Bundle = {
  render: (view: View) => string;
  assets: Assets;
  /** Scripts and fonts by their address; the names hold a hash of the content. */
  files: Map<string, string | Buffer>;
};

/**
 * The style sheets beside the one of every page, in the order of the cascade, with their classes. A page contains only
 * the sheets whose classes it has; with one sheet for all, a page was 1 kB larger.
 */
const sheetUses = {
  tabs: ['tabs'],
  markup: ['hint', 'hint hint-[a-z]+', 'table', 'service-status', 'release'],
  api: ['api'],
  form: ['sign-up-form needs-script', 'search-again'],
  picture: ['picture'],
  home: ['home'],
};
const sheetNames = Object.keys(sheetUses);

const quiet = { configFile: false, root: site, logLevel: 'warn', clearScreen: false } as const;

/** Compiles the components for Node and imports them; deletes the compiled file. */
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

/** Compiles scripts and style sheets for the browser, in memory. */
async function buildClient(): Promise<Pick<Assets, 'css' | 'sheets' | 'script'> & Pick<Bundle, 'files'>> {
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
          ...Object.fromEntries(sheetNames.map((name) => [name, join(site, `styles/${name}.css`)])),
        },
        output: {
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          assetFileNames: 'assets/[name]-[hash][extname]',
        },
      },
    },
  });
  const { output } = getOutput(result);
  const files = new Map<string, string | Buffer>();
  const css = new Map<string, string>();
  let script = '';
  let allCss = '';
  for (const file of output) {
    if (file.type === 'asset') {
      const name = file.names[0]?.replace(/\.css$/, '') ?? '';
      if (name === 'styles' || sheetNames.includes(name)) css.set(name, String(file.source).trim());
      else files.set(`/${file.fileName}`, Buffer.from(file.source));
      if (file.fileName.endsWith('.css')) allCss += String(file.source);
    } else if (file.name !== 'styles' && !sheetNames.includes(file.name)) {
      // The bundler makes an empty script of each style sheet.
      files.set(`/${file.fileName}`, file.code);
      if (file.name === 'main') script = `/${file.fileName}`;
    }
  }
  const sheets = Object.entries(sheetUses).map(([name, classes]) => {
    const classPattern = classes.join('|');
    return { css: css.get(name) ?? '', usedBy: new RegExp(`class="(?:${classPattern})"`) };
  });
  const { common, other } = divideFonts(fitTokens(css.get('styles') ?? '', allCss));
  return { css: common, sheets: [...sheets, { css: other, usedBy: OTHER_LETTERS }], script, files };
}

/**
 * Removes the custom properties that no style sheet of the site uses: the console shares their file, and needs many more. A
 * page keeps the font that it began with, because a long text would move by a change of font; the next page has Inter.
 */
function fitTokens(css: string, allCss: string): string {
  const isUsed = (name: string): boolean => allCss.includes(`var(${name}`);
  return css
    .replaceAll(/(--[\w-]+):[^;}]*;?/g, (declaration, name: string) => (isUsed(name) ? declaration : ''))
    .replaceAll('font-display:swap', 'font-display:optional');
}

/** Letters of the Latin extension, Greek and Cyrillic, whose fonts a page names only if it has one. */
const OTHER_LETTERS = /[\u0100-\u0130\u0132-\u0151\u0154-\u02ba\u0370-\u045f\u0490\u0491\u1e00-\u1eff]/;

/**
 * Divides the style sheet into the rules of every page and the fonts of other letters. The font that stands in for Inter goes:
 * its size keeps a text in place when fonts change, and here they never do. Both together were 0.4 kB of a page.
 */
function divideFonts(css: string): { common: string; other: string } {
  const fonts = css.match(/@font-face\{[^}]*\}/g) ?? [];
  const other = fonts.filter((rule) => rule.includes('unicode-range') && !rule.includes('U+??'));
  const standIns = fonts.filter((rule) => rule.includes('local('));
  return {
    // Later fonts come first for their letters, so the Latin one needs no range.
    common: [...other, ...standIns]
      .reduce((rest, rule) => rest.replace(rule, ''), css)
      .replace(/;unicode-range:U\+\?\?[^}]*/, '')
      .replaceAll(/"(Inter Fallback|Noto [\w ]+)", ?/g, ''),
    other: other.join(''),
  };
}

function getOutput(result: Awaited<ReturnType<typeof build>>): Rolldown.RolldownOutput {
  const first = Array.isArray(result) ? result[0] : result;
  if (!first || !('output' in first))
    throw new Error('The client build has no output, because it was started as a watcher.');
  return first;
}

/** Compiles one inline script to its text in the page. */
async function compileInlineScript(name: string): Promise<string> {
  const path = join(site, 'client/inline', name);
  const { code } = await transformWithOxc(readFileSync(path, 'utf8'), path, { sourcemap: false });
  return minifySync(path.replace(/ts$/, 'js'), code).code.trim();
}

/** Compiles components, scripts, inline scripts and style sheets. */
export async function buildBundle(): Promise<Bundle> {
  const [render, client, head, tabs] = await Promise.all([
    buildRenderer(),
    buildClient(),
    compileInlineScript('head.ts'),
    compileInlineScript('tabs.ts'),
  ]);
  const rules: unknown = JSON.parse(readFileSync(join(site, 'client/inline/speculation.json'), 'utf8'));
  const speculation = JSON.stringify(rules);
  const { files, ...assets } = client;
  return { render, files, assets: { ...assets, inline: { head, tabs, speculation } } };
}
