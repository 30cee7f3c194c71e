/**
 * Finds solvers that the image in a manifest has and this host lacks. Image names select nothing here, so an app that starts
 * such a solver would fail late in its run.
 */
import { posix } from 'node:path';
import { findTool } from '../process/command.ts';

/** The image of the commercial service for Pyomo, and its solvers by program. */
const PYOMO_IMAGE = /(?:^|\/)pyomo(?=[:@]|$)/;
const PYOMO_PROGRAMS = { cbc: 'CBC', glpsol: 'GLPK', scip: 'SCIP' };

/**
 * Returns the sentence about solvers of the image that neither the archive nor this host has; undefined without any.
 * `files` are paths in the archive.
 */
export function describeMissingPrograms(
  runtime: string,
  files: readonly string[],
  hasProgram: (name: string) => boolean = (name) => findTool(name) !== undefined,
): string | undefined {
  if (!PYOMO_IMAGE.test(runtime)) return undefined;
  const packed = new Set(files.map((path) => posix.basename(path)));
  const missing = Object.entries(PYOMO_PROGRAMS).filter(([name]) => !packed.has(name) && !hasProgram(name));
  if (missing.length === 0) return undefined;
  const programs = missing.map(([name, solver]) => `${solver} (${name})`).join(', ');
  return `runtime is "${runtime}", an image with solvers that this host lacks: ${programs}. Name a package with a solver in python.pip-requirements: highspy (in Pyomo "appsi_highs"), pyscipopt, or pulp with its program cbc. Otherwise install the programs on the host.`;
}
