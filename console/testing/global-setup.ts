/** Builds the console once before its tests, in the folder that `npm start` uses. */
import type { TestProject } from 'vitest/node';
import { buildConsole } from '../build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    builtConsole: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const { outDir } = await buildConsole();
  project.provide('builtConsole', outDir);
}
