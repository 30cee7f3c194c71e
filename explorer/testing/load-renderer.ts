import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import type * as Renderer from './render-operation.tsx';

/** Compiles the components, which are TSX that Node does not run, and loads them for programs outside a bundle. */
export async function loadRenderer(): Promise<typeof Renderer> {
  const root = join(import.meta.dirname, '..');
  const folder = mkdtempSync(join(root, '.try-'));
  try {
    await build({
      configFile: false,
      root,
      logLevel: 'warn',
      build: {
        ssr: 'testing/render-operation.tsx',
        outDir: folder,
        minify: false,
        rollupOptions: { output: { entryFileNames: 'render.js' } },
      },
    });
    return await import(pathToFileURL(join(folder, 'render.js')).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
