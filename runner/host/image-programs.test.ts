/** S9: an image that promises solvers which the host lacks. */
import { describe, expect, test } from 'vitest';
import { describeMissingPrograms } from './image-programs.ts';

const IMAGE = 'ghcr.io/nextmv-io/runtime/pyomo:latest';
const CBC = '.nextmv/python/deps/pulp/solverdir/cbc/linux/i64/cbc';

describe('S9: the solvers of the image for Pyomo', () => {
  test.each([
    [IMAGE, [], [], 'lacks: CBC (cbc), GLPK (glpsol), SCIP (scip). Name a package'],
    ['pyomo', [], ['cbc', 'scip'], 'lacks: GLPK (glpsol). Name'],
    [IMAGE, [CBC], ['glpsol'], 'lacks: SCIP (scip). Name'],
  ])('%s with %j in the archive and %j on the host', (runtime, files, programs, words) => {
    expect(describeMissingPrograms(runtime, files, (name) => programs.includes(name))).toContain(words);
  });

  test.each([
    [IMAGE, ['cbc', 'glpsol', 'scip']],
    ['ghcr.io/nextmv-io/runtime/python:3.11', []],
    ['ghcr.io/nextmv-io/runtime/pyomoto:latest', []],
  ])('%s with %j on the host is not reported', (runtime, programs: string[]) => {
    expect(describeMissingPrograms(runtime, [], (name) => programs.includes(name))).toBeUndefined();
  });
});
