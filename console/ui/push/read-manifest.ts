import type { ExecutableType } from '@switchyard/contract/applications/executables.ts';

export const MANIFEST_NAME = 'app.yaml';
const TYPES: readonly ExecutableType[] = ['node', 'python', 'go', 'java', 'binary'];

/** The part of a manifest that the activation must name; the server reads the rest from the archive. */
export interface ManifestHead {
  executable_type: ExecutableType;
  runtime: string;
}

/** Returns type and runtime of a manifest. Throws if one is absent or not known. */
export function readManifestHead(text: string): ManifestHead {
  const type = readScalar(text, 'type');
  const runtime = readScalar(text, 'runtime');
  const known = TYPES.find((one) => one === type);
  if (known === undefined)
    throw new Error(`type of ${MANIFEST_NAME} is "${type}". It must be one of ${TYPES.join(', ')}.`);
  if (runtime === '') throw new Error(`${MANIFEST_NAME} has no runtime. Give one, for example node:26.`);
  return { executable_type: known, runtime };
}

/** Returns the value of a field at the root of a YAML text, without quotes and comment; empty if it is absent. */
function readScalar(text: string, field: string): string {
  const start = `${field}:`;
  const found = text.split(/\r?\n/).find((one) => one.startsWith(start));
  const line = found?.slice(start.length).trim() ?? '';
  const quoted = /^(["'])(.*?)\1/.exec(line);
  return quoted?.[2] ?? line.replace(/\s+#.*$|^#.*$/, '').trim();
}
