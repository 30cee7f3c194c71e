/**
 * Before the tests of the site: it is built once, where it lies for the next time as well. Nine test files look at it, and
 * a build is twelve seconds of a core.
 */
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildSite } from '../build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    builtSite: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const outDir = join(import.meta.dirname, '../../.cache/tested-site');
  await buildSite({ outDir, quick: true });
  project.provide('builtSite', outDir);
}
