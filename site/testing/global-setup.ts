/**
 * Before the tests of the site: it is built once, where `npm start` builds it, which a test starts as well. Eleven test
 * files look at it, and a build is thirty seconds of a core.
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
