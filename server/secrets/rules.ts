/** What a list of secrets must be like. Pure. No sentence repeats a value. */
import { posix } from 'node:path';
import type { Secret, SecretOperation } from '@switchyard/contract/applications/secrets.ts';
import { SECRET_VALUE_BYTES_MAX, SECRETS_MAX } from '@switchyard/contract/limits.ts';
import { RESERVED_SHELL_VARIABLES } from '@switchyard/runner';
import { quoteValue } from '../http/errors/problem.ts';

/**
 * Variables that the platform sets itself. A secret in their place would either be dropped or take from the app, or from
 * the runtime below it, what it needs to start and to know which run it is. PYTHONPATH is not here: the runner keeps what
 * it is given and puts its own part before it.
 */
const PLATFORM_NAMES = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'USER', 'LOGNAME'],
  ...['NEXTMV_APP_ID', 'NEXTMV_RUN_ID', 'SWITCHYARD_RUN'],
  ...['PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE'],
]);

/** Folders of a sandbox that are the app's own. */
const ABSOLUTE_BELOW = ['/app/', '/tmp/'] as const;
/** What file systems take as the name of one file. */
const FILE_NAME_BYTES_MAX = 255;

/** What is wrong with the secrets, as a sentence, or null. */
export function validateSecrets(secrets: readonly Secret[]): string | null {
  for (const [index, secret] of secrets.entries()) {
    const field = `secrets.${index}`;
    const error =
      (secret.type === 'env' ? envError(secret, field) : fileError(secret.location, `${field}.location`)) ??
      valueError(secret.value, `${field}.value`);
    if (error) return error;
  }
  return clashError(secrets);
}

/** The secrets after the changes, or what is wrong with the changes, as a sentence. */
export function applySecretOperations(
  secrets: readonly Secret[],
  operations: readonly SecretOperation[],
): Secret[] | string {
  const changed = [...secrets];
  for (const [index, { op, type, location, value }] of operations.entries()) {
    const field = `operations.${index}`;
    const at = changed.findIndex((one) => one.type === type && one.location === location);
    const named = `${field}.location is ${quoteValue(location)}`;
    if (op === 'create' && at >= 0)
      return `${named}, and there is a secret of type ${type} there already; update it.`;
    if (op !== 'create' && at < 0) return `${named}, and there is no secret of type ${type} there to ${op}.`;
    if (op === 'delete') {
      changed.splice(at, 1);
      continue;
    }
    if (value === undefined || value === null)
      return `${field}.value is missing; to ${op} a secret it is needed.`;
    if (op === 'create') changed.push({ type, location, value });
    else changed[at] = { type, location, value };
  }
  return changed.length <= SECRETS_MAX
    ? changed
    : `With operations the collection would have ${changed.length} secrets; it may have ${SECRETS_MAX}.`;
}

/**
 * Names of other characters are possible, but no shell reads them, and they would have to be handed over on a command
 * line, which others on the host can see for a moment. The same holds for names that shells keep for themselves.
 */
function envError({ location, value }: Secret, field: string): string | null {
  const words = `${field}.location is ${quoteValue(location)}`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(location))
    return `${words}; the name of an environment variable must be letters, digits and underscores and not begin with a digit.`;
  if (PLATFORM_NAMES.has(location))
    return `${words}, which the platform sets itself for every app; choose another name.`;
  if (RESERVED_SHELL_VARIABLES.has(location) || location.startsWith('BASH_'))
    return `${words}, which shells keep for themselves; choose another name.`;
  if (value.includes('\0'))
    return `${field}.value contains a NUL character, which no environment variable can; use a secret of type file.`;
  return null;
}

function fileError(location: string, field: string): string | null {
  const words = `${field} is ${quoteValue(location)}`;
  const parts = partsOf(location);
  if (location.endsWith('/') || parts.length === 0 || /(^|\/)\.$/.test(location))
    return `${words}, which names a folder; it must be the path of a file.`;
  if (parts.includes('..')) return `${words}; it must not contain the part "..".`;
  const long = parts.find((part) => Buffer.byteLength(part) > FILE_NAME_BYTES_MAX);
  if (long !== undefined)
    return `${words}, a part of which has ${Buffer.byteLength(long)} bytes; a file name may have ${FILE_NAME_BYTES_MAX}.`;
  if (location.startsWith('/') && !ABSOLUTE_BELOW.some((folder) => placeOf(location).startsWith(folder)))
    return `${words}; an absolute path must lie below ${ABSOLUTE_BELOW.join(' or ')}, any other must be relative.`;
  return null;
}

function valueError(value: string, field: string): string | null {
  const bytes = Buffer.byteLength(value);
  if (bytes <= SECRET_VALUE_BYTES_MAX) return null;
  return `${field} has ${bytes} bytes in UTF-8; a value may have ${SECRET_VALUE_BYTES_MAX}.`;
}

/** Two secrets at one place, or a file where another needs a folder. */
function clashError(secrets: readonly Secret[]): string | null {
  const taken = new Map<string, number>();
  for (const [index, secret] of secrets.entries()) {
    const key = `${secret.type} ${secret.type === 'env' ? secret.location : placeOf(secret.location)}`;
    const first = taken.get(key);
    if (first !== undefined)
      return `secrets.${index}.location is ${quoteValue(secret.location)}, which secrets.${first} has already; give each its own.`;
    taken.set(key, index);
  }
  for (const [index, secret] of secrets.entries()) {
    if (secret.type === 'env') continue;
    for (let at = posix.dirname(placeOf(secret.location)); at !== '.' && at !== '/'; at = posix.dirname(at)) {
      const above = taken.get(`file ${at}`);
      if (above !== undefined)
        return `secrets.${index}.location is ${quoteValue(secret.location)}, which lies below the file of secrets.${above}; a path cannot be a file and a folder.`;
    }
  }
  return null;
}

const partsOf = (location: string): string[] =>
  location.split('/').filter((part) => part !== '' && part !== '.');

/** The path without what says nothing, so that two spellings of one file are one. */
function placeOf(location: string): string {
  return `${location.startsWith('/') ? '/' : ''}${partsOf(location).join('/')}`;
}
