/** Compiles the console with Vite, in memory. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { build, type Rolldown } from 'vite';
import { operationTable } from './operation-table.ts';

const root = join(import.meta.dirname, '..');

/** Returns the files of the console by path. */
export async function bundleConsole(): Promise<Map<string, string | Buffer>> {
  const result = await build({
    configFile: false,
    root,
    base: '/console/',
    logLevel: 'warn',
    clearScreen: false,
    plugins: [operationTable(), react()],
    css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:4]' } },
    build: {
      write: false,
      target: 'es2023',
      cssTarget: 'esnext',
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 6000,
      rollupOptions: { input: join(root, 'index.html') },
    },
  });
  const files = new Map<string, string | Buffer>();
  for (const file of getOutput(result)) {
    files.set(file.fileName, file.type === 'asset' ? Buffer.from(file.source) : file.code);
  }
  return files;
}

function getOutput(result: Awaited<ReturnType<typeof build>>): Rolldown.RolldownOutput['output'] {
  const first = Array.isArray(result) ? result[0] : result;
  if (!first || !('output' in first))
    throw new Error('The build has no output, because it was started as a watcher.');
  return first.output;
}
