/**
 * PyVRP, a strong open-source solver in C++, as the baseline of the benchmark. It is installed from the Python
 * package index into a folder that git ignores; where that cannot be had, the benchmark says so and goes on.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { distanceBetween, type Instance } from './instances.ts';

const version = '0.14.1';
const home = fileURLToPath(new URL('.cache/pyvrp', import.meta.url));
const python = `${home}/bin/python`;
const script = fileURLToPath(new URL('solve_pyvrp.py', import.meta.url));

export type PyvrpSolution = { routes: number[][]; iterations: number };

/** Installs PyVRP if it is not there yet. Returns why it cannot be used, or null. */
export function installPyvrp(): string | null {
  if (!existsSync(python)) {
    const made = spawnSync('python3', ['-m', 'venv', home], { encoding: 'utf8' });
    if (made.status !== 0)
      return `no virtual environment could be made: ${lastLine(made.stderr, made.error)}`;
  }
  const found = spawnSync(python, ['-c', 'import pyvrp'], { encoding: 'utf8' });
  if (found.status === 0) return null;
  const installed = spawnSync(python, ['-m', 'pip', 'install', '--quiet', `pyvrp==${version}`], {
    encoding: 'utf8',
  });
  return installed.status === 0
    ? null
    : `pip could not install pyvrp ${version}: ${lastLine(installed.stderr, installed.error)}`;
}

/** Runs PyVRP on the instance, on one core like the search it is compared with. Throws when it fails. */
export function solveWithPyvrp(instance: Instance, seconds: number, seed: number): PyvrpSolution {
  const { nodes, capacity, vehicles, hasTimeWindows: timed } = instance;
  const distance = nodes.map((_, i) => nodes.map((_, j) => (i === j ? 0 : distanceBetween(instance, i, j))));
  const bounded = nodes.map((node) => ({ ...node, to: timed ? node.to : 0 }));
  const input = JSON.stringify({ seconds, seed, capacity, vehicles, timed, nodes: bounded, distance });
  const run = spawnSync(python, [script], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0)
    throw new Error(`PyVRP failed on ${instance.name}: ${lastLine(run.stderr, run.error)}`);
  return JSON.parse(run.stdout);
}

function lastLine(text: string | null, error: Error | undefined): string {
  return error?.message ?? text?.trim().split('\n').at(-1) ?? 'it said nothing';
}
