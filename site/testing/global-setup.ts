/**
 * Builds the site once before its tests, in the folder that `npm start` uses, because a test runs that too. Eleven test
 * files use it, and a build takes thirty seconds of a core.
 */
import type { TestProject } from 'vitest/node';
import { buildSite } from '../build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    builtSite: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const { outDir } = await buildSite();
  project.provide('builtSite', outDir);
}
