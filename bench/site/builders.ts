/**
 * The compared builders, each with the build of the same content. The benchmark installs the others from npm into
 * `.cache/site-bench`, at the versions named here.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSite } from '../../site/build.ts';
import { type ExportedContent, translateNavigation, writePages } from './peer-content.ts';
import { prepareFolder } from './peer-site.ts';

const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'site-bench');

/** `buildSeconds` is absent for a folder from an earlier build. */
export type BuiltSite = { name: string; folder: string; buildSeconds: number | undefined };

type Builder = {
  name: string;
  packages: Record<string, string>;
  /** Relative to its folder in the cache. */
  docs: string;
  pages: string;
  output: string;
  /** Output of earlier builds, deleted before a clean build. */
  leftovers: string[];
  command: string[];
  /** Its configuration files by path. */
  files(content: ExportedContent): Record<string, string>;
};

const docusaurus: Builder = {
  name: 'Docusaurus',
  // The packages of its classic preset, without those of an external search service, and the usual local search.
  packages: {
    '@docusaurus/core': '3.10.2',
    '@docusaurus/plugin-content-docs': '3.10.2',
    '@docusaurus/plugin-content-pages': '3.10.2',
    '@docusaurus/theme-classic': '3.10.2',
    '@easyops-cn/docusaurus-search-local': '0.55.3',
    '@mdx-js/react': '3.1.1',
    react: '19.3.1',
    'react-dom': '19.3.1',
  },
  docs: 'docs',
  pages: 'src/pages',
  output: 'build',
  leftovers: ['build', '.docusaurus', 'node_modules/.cache'],
  command: ['node_modules/@docusaurus/core/bin/docusaurus.mjs', 'build'],
  files: (content) => {
    type Item = Record<string, unknown>;
    const sidebar = translateNavigation<Item>(content, {
      page: (label, id) => ({ type: 'doc', label, id }),
      group: (label, id, items) => ({
        type: 'category',
        label,
        items,
        ...(id !== undefined && { link: { type: 'doc', id } }),
      }),
      link: (label, href) => ({ type: 'link', label, href }),
    });
    const config = {
      title: 'Switchyard',
      url: 'http://127.0.0.1:8080',
      baseUrl: '/',
      trailingSlash: false,
      onBrokenLinks: 'ignore',
      onBrokenAnchors: 'ignore',
      markdown: { format: 'detect' },
      plugins: [
        ['@docusaurus/plugin-content-docs', { routeBasePath: 'docs', sidebarPath: './sidebars.json' }],
        '@docusaurus/plugin-content-pages',
      ],
      themes: [
        '@docusaurus/theme-classic',
        ['@easyops-cn/docusaurus-search-local', { hashed: true, indexBlog: false }],
      ],
      themeConfig: {
        navbar: { title: 'Switchyard' },
        prism: { additionalLanguages: ['bash'] },
        colorMode: { respectPrefersColorScheme: true },
      },
    };
    return {
      'docusaurus.config.mjs': `export default ${JSON.stringify(config)};\n`,
      'sidebars.json': JSON.stringify({ docs: sidebar }),
    };
  },
};

const starlight: Builder = {
  name: 'Starlight',
  packages: { '@astrojs/starlight': '0.42.4', astro: '7.3.5' },
  docs: 'src/content/docs/docs',
  pages: 'src/content/docs',
  output: 'dist',
  leftovers: ['dist', '.astro', 'node_modules/.astro', 'node_modules/.vite'],
  command: ['node_modules/astro/bin/astro.mjs', 'build'],
  files: (content) => {
    const formatSlug = (path: string): string => `docs/${path.replace(/\/index$/, '')}`;
    const sidebar = translateNavigation<Record<string, unknown>>(content, {
      page: (label, path) => ({ label, slug: formatSlug(path) }),
      group: (label, path, items) => ({
        label,
        collapsed: true,
        items: path === undefined ? items : [{ label, slug: formatSlug(path) }, ...items],
      }),
      link: (label, link) => ({ label, link }),
    });
    const options = JSON.stringify({ title: 'Switchyard', sidebar });
    return {
      'astro.config.mjs': `import starlight from '@astrojs/starlight';
export default {
  trailingSlash: 'never',
  build: { format: 'file', assets: 'assets' },
  integrations: [starlight(${options})],
};
`,
      'src/content.config.mjs': `import { docsLoader } from '@astrojs/starlight/loaders';
import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro:content';
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`,
    };
  },
};

export const PEER_BUILDERS: readonly Builder[] = [docusaurus, starlight];

/** Returns the names and versions of the packages of a builder. */
export function formatVersions({ packages }: Builder): string {
  return Object.entries(packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}

/** This site, as built for a server: with maximum compression. */
export async function buildSwitchyard(): Promise<BuiltSite> {
  const folder = join(CACHE, 'switchyard');
  rmSync(folder, { recursive: true, force: true });
  const started = performance.now();
  await buildSite({ outDir: folder });
  return { name: 'Switchyard', folder, buildSeconds: (performance.now() - started) / 1000 };
}

/** Throws with the output of the builder if its installation or build fails. */
export async function buildPeer(builder: Builder, content: ExportedContent): Promise<BuiltSite> {
  const { name, packages, docs, pages, output, leftovers, command, files } = builder;
  const root = join(CACHE, name.toLowerCase());
  install(root, packages);
  // The pages first: one of the builders writes the documentation into a folder below them.
  writePages(content, { docs: join(root, docs), pages: join(root, pages) });
  for (const [path, text] of Object.entries(files(content))) writeFileSync(join(root, path), text);
  for (const path of leftovers) rmSync(join(root, path), { recursive: true, force: true });
  const started = performance.now();
  run(root, process.execPath, command);
  const buildSeconds = (performance.now() - started) / 1000;
  const folder = join(root, output);
  await prepareFolder(folder);
  return { name, folder, buildSeconds };
}

function install(root: string, dependencies: Record<string, string>): void {
  const wanted = JSON.stringify({ private: true, dependencies });
  const manifest = join(root, 'package.json');
  const isThere = existsSync(join(root, 'node_modules')) && existsSync(manifest);
  if (isThere && readFileSync(manifest, 'utf8') === wanted) return;
  mkdirSync(root, { recursive: true });
  writeFileSync(manifest, wanted);
  run(root, 'npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts']);
}

function run(folder: string, command: string, args: string[]): void {
  const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', DOCUSAURUS_NO_PERSISTENT_CACHE: 'true' };
  const done = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
  if (done.status === 0) return;
  throw new Error(`${command} ${args.join(' ')} failed: ${`${done.stdout}\n${done.stderr}`.slice(-3000)}`);
}
