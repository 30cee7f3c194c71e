/**
 * Adds the functions of newer versions of Node that the program uses to the oldest one that it supports. The bundle loads
 * this module before every other. Node has no types for a function that is missing, so the assignments stay untyped.
 */
import { existsSync, readFileSync } from 'node:fs';
import tls from 'node:tls';

interface Resolvers {
  promise: Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason?: unknown) => void;
}

/** Defines a missing static method; a present one stays. */
function defineMissing(owner: object, name: string, value: (...values: never[]) => unknown): void {
  if (!(name in owner)) Object.defineProperty(owner, name, { value, configurable: true, writable: true });
}

defineMissing(Promise, 'withResolvers', (): Resolvers => {
  let [resolve, reject]: [Resolvers['resolve'], Resolvers['reject']] = [() => {}, () => {}];
  const promise = new Promise<unknown>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
});

defineMissing(Map, 'groupBy', (items: Iterable<unknown>, classify: (item: unknown) => unknown) => {
  const groups = new Map<unknown, unknown[]>();
  for (const item of items) {
    const key = classify(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
});

defineMissing(URL, 'parse', (text: string, base?: string) =>
  URL.canParse(text, base) ? new URL(text, base) : null,
);

/**
 * `fetch` takes its certificates from the default context. Contexts with their own authorities stay as they are. A second
 * process with NODE_EXTRA_CA_CERTS would have the same effect, and would lose standard input that was read already.
 */
defineMissing(tls, 'getCACertificates', () => {
  const extra = process.env.NODE_EXTRA_CA_CERTS;
  return [...tls.rootCertificates, ...(extra && existsSync(extra) ? [readFileSync(extra, 'utf8')] : [])];
});
defineMissing(tls, 'setDefaultCACertificates', (certificates: string[]) => {
  const { createSecureContext } = tls;
  tls.createSecureContext = (options = {}) =>
    createSecureContext(options.ca === undefined ? { ...options, ca: certificates } : options);
});

/** Node 20 calls functions experimental, such as `openAsBlob`, that later became stable unchanged. */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 22) {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    const isExperimental = warning instanceof Error ? warning.name : rest[0];
    if (isExperimental !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
}
