/** Which version of a runtime an app gets, and how that differs from what its manifest asks for. Pure. */
import type { ExecutableType, Host, RuntimeName } from '../types.ts';

const NAMES: Partial<Record<ExecutableType, RuntimeName>> = { node: 'node', python: 'python', java: 'java' };
const TITLES: Record<RuntimeName, string> = { node: 'Node', python: 'Python', java: 'Java' };

/** `ghcr.io/nextmv-io/runtime/python:3.13` → `3.13`; no match for `python:latest`. */
const ASKED_VERSION: Record<RuntimeName, RegExp> = {
  node: /(?:^|[^a-z])node[:-]?v?(\d+(?:\.\d+)*)(?![\w.])/,
  python: /(?:^|[^a-z])python[:-]?v?(\d+(?:\.\d+)*)(?![\w.])/,
  java: /(?:^|[^a-z])java[:-]?v?(\d+(?:\.\d+)*)(?![\w.])/,
};

type Runtimes = Pick<Host, 'runtimes' | 'missingRuntimes'>;

/** Version of the runtime that starts apps of the type; undefined for compiled programs and where the host lacks it. */
export function findRuntimeVersion(type: ExecutableType, host: Runtimes): string | undefined {
  const name = NAMES[type];
  return name === undefined ? undefined : host.runtimes[name]?.version;
}

/**
 * A sentence when the host has the runtime in another version than the name asks for, such as `python:3.13`, or not at
 * all. Names of images are names only: apps run on the runtimes of the host.
 */
export function describeRuntimeMismatch(
  type: ExecutableType,
  runtime: string,
  host: Runtimes,
): string | undefined {
  const name = NAMES[type];
  if (name === undefined) return undefined;
  const version = host.runtimes[name]?.version;
  if (version === undefined)
    return `The app needs ${TITLES[name]}, which this server lacks; its runs will fail. ${host.missingRuntimes[name] ?? ''}`.trim();
  const asked = ASKED_VERSION[name].exec(runtime)?.[1];
  if (asked === undefined) return undefined;
  const parts = asked.split('.');
  if (version.split('.').slice(0, parts.length).join('.') === asked) return undefined;
  return `runtime is "${runtime}"; this server runs the app with ${TITLES[name]} ${version}.`;
}
