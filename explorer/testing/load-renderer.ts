/** Components are TSX, which Node does not run: they are compiled once for what has to render outside a bundle. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import type * as Renderer from './render-operation.tsx';

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
