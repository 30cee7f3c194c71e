/** Compares the runtime versions of the host with those that manifests name. Pure. */
import type { ExecutableType, Host, RuntimeName } from '../types.ts';

const RUNTIME_NAMES: Partial<Record<ExecutableType, RuntimeName>> = {
  node: 'node',
  python: 'python',
  java: 'java',
};
const TITLES: Record<RuntimeName, string> = { node: 'Node', python: 'Python', java: 'Java' };

/** `ghcr.io/nextmv-io/runtime/python:3.13` → `3.13`; no match for `python:latest`. */
const VERSION_IN_IMAGE_NAME: Record<RuntimeName, RegExp> = {
  node: /(?:^|[^a-z])node[:-]?v?(\d+(?:\.\d+)*)(?![\w.])/,
  python: /(?:^|[^a-z])python[:-]?v?(\d+(?:\.\d+)*)(?![\w.])/,
  java: /(?:^|[^a-z])java[:-]?v?(\d+(?:\.\d+)*)(?![\w.])/,
};

type Runtimes = Pick<Host, 'runtimes' | 'missingRuntimes'>;

/** Returns the version of the runtime for a type; undefined for compiled programs and when the host lacks it. */
export function findRuntimeVersion(type: ExecutableType, host: Runtimes): string | undefined {
  const name = RUNTIME_NAMES[type];
  return name === undefined ? undefined : host.runtimes[name]?.version;
}

/**
 * Returns a sentence when the host lacks the runtime or has another version than the image name, such as `python:3.13`;
 * else undefined. Image names select nothing: apps run on the runtimes of the host.
 */
export function describeRuntimeMismatch(
  type: ExecutableType,
  runtime: string,
  host: Runtimes,
): string | undefined {
  const name = RUNTIME_NAMES[type];
  if (name === undefined) return undefined;
  const version = host.runtimes[name]?.version;
  if (version === undefined)
    return `The app needs ${TITLES[name]}, which this server lacks; its runs will fail. ${host.missingRuntimes[name] ?? ''}`.trim();
  const imageVersion = VERSION_IN_IMAGE_NAME[name].exec(runtime)?.[1];
  if (imageVersion === undefined) return undefined;
  const parts = imageVersion.split('.');
  if (version.split('.').slice(0, parts.length).join('.') === imageVersion) return undefined;
  return `runtime is "${runtime}"; this server runs the app with ${TITLES[name]} ${version}.`;
}
