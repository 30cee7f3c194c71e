/**
 * The tests that a change affects first: those of its folder, and those that import it nearly directly. The tests that
 * start a server import all of it, so that a walk over all imports would choose nearly every test for every change.
 */
import { posix } from 'node:path';
import { type Packages, resolveImport } from './packages.ts';
import { isCode, isTest, type Source } from './source-files.ts';
import { listImports } from './syntax.ts';

/** A test that imports a module that imports the change is affected. */
const STEPS_MAX = 2;

/** Returns the sorted paths of the test files that the changed paths affect first. */
export function findAffectedTests(
  sources: readonly Source[],
  changed: readonly string[],
  packages: Packages,
): string[] {
  const tests = sources.map(({ path }) => path).filter(isTest);
  const importers = collectImporters(sources, packages);
  const affected = new Set<string>();
  for (const path of changed) {
    for (const test of listTestsBeside(path, tests)) affected.add(test);
    let reached = new Set([path]);
    for (let step = 0; step < STEPS_MAX; step += 1) {
      reached = new Set([...reached].flatMap((one) => [...(importers.get(one) ?? [])]));
      for (const importer of reached) if (isTest(importer)) affected.add(importer);
    }
  }
  return [...affected].sort();
}

/** Returns the tests of the nearest folder that has some, from the folder of the path upwards within its package. */
function listTestsBeside(path: string, tests: readonly string[]): string[] {
  for (
    let folder = posix.dirname(path);
    folder.includes('/') || folder !== '.';
    folder = posix.dirname(folder)
  ) {
    const found = tests.filter((test) => test.startsWith(`${folder}/`));
    const beside = found.filter((test) => posix.dirname(test) === folder);
    if (beside.length > 0) return beside;
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns the paths that import each path. */
function collectImporters(sources: readonly Source[], packages: Packages): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const source of sources.filter(isCode))
    for (const { specifier } of listImports(source)) {
      const target = resolveImport(source.path, specifier, packages);
      if (target.kind !== 'own' || target.path === undefined) continue;
      const known = importers.get(target.path) ?? new Set();
      importers.set(target.path, known.add(source.path));
    }
  return importers;
}
