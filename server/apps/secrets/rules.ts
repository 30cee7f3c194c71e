/** Rules of secrets, without a database. No error message repeats the value of a secret. */
import { posix } from 'node:path';
import type { Secret, SecretOperation } from '@switchyard/contract/applications/secrets.ts';
import { SECRET_VALUE_BYTES_MAX, SECRETS_MAX } from '@switchyard/contract/limits.ts';
import { RESERVED_SHELL_VARIABLES } from '@switchyard/runner';
import { quoteValue } from '../../platform/http/errors/problem.ts';

/**
 * Variables that the platform sets. A secret with such a name would be dropped, or would override a value that the app or
 * its runtime needs. PYTHONPATH is not one of them, because the runner puts its own part before the value of the secret.
 */
const PLATFORM_NAMES = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'USER', 'LOGNAME'],
  ...['NEXTMV_APP_ID', 'NEXTMV_RUN_ID', 'SWITCHYARD_RUN', 'SWITCHYARD_PREVIOUS'],
  ...['PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE'],
]);

/** The folders of a sandbox in which the app can write. */
const WRITABLE_FOLDERS = ['/app/', '/tmp/'] as const;
/** NAME_MAX of Linux file systems. */
const FILE_NAME_BYTES_MAX = 255;

/** Returns the error message for the first invalid secret, or null. */
export function validateSecrets(secrets: readonly Secret[]): string | null {
  for (const [index, secret] of secrets.entries()) {
    const field = `secrets.${index}`;
    const error =
      (secret.type === 'env'
        ? validateVariable(secret, field)
        : validatePath(secret.location, `${field}.location`)) ??
      validateValue(secret.value, `${field}.value`);
    if (error) return error;
  }
  return findConflict(secrets);
}

/** Returns the secrets after the changes, or the error message for the first invalid change. */
export function applySecretOperations(
  secrets: readonly Secret[],
  operations: readonly SecretOperation[],
): Secret[] | string {
  const changed = [...secrets];
  for (const [position, { op, type, location, value }] of operations.entries()) {
    const field = `operations.${position}`;
    const index = changed.findIndex((one) => one.type === type && one.location === location);
    const subject = `${field}.location is ${quoteValue(location)}`;
    if (op === 'create' && index >= 0)
      return `${subject}, and there is a secret of type ${type} there already; update it.`;
    if (op !== 'create' && index < 0)
      return `${subject}, and there is no secret of type ${type} there to ${op}.`;
    if (op === 'delete') {
      changed.splice(index, 1);
      continue;
    }
    if (value === undefined || value === null)
      return `${field}.value is missing; to ${op} a secret it is needed.`;
    if (op === 'create') changed.push({ type, location, value });
    else changed[index] = { type, location, value };
  }
  return changed.length <= SECRETS_MAX
    ? changed
    : `With operations the collection would have ${changed.length} secrets; it may have ${SECRETS_MAX}.`;
}

/**
 * Other names are possible, but the shell that starts the app cannot set them. They would have to pass through a command
 * line, which other users of the host can read. The same holds for names that shells reserve.
 */
function validateVariable({ location, value }: Secret, field: string): string | null {
  const subject = `${field}.location is ${quoteValue(location)}`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(location))
    return `${subject}; the name of an environment variable must be letters, digits and underscores and not begin with a digit.`;
  if (PLATFORM_NAMES.has(location))
    return `${subject}, which the platform sets itself for every app; choose another name.`;
  if (RESERVED_SHELL_VARIABLES.has(location) || location.startsWith('BASH_'))
    return `${subject}, which shells keep for themselves; choose another name.`;
  if (value.includes('\0'))
    return `${field}.value contains a NUL character, which no environment variable can; use a secret of type file.`;
  return null;
}

/** Returns the error message for a path that is not a file below the app's folders, or null. */
function validatePath(location: string, field: string): string | null {
  const subject = `${field} is ${quoteValue(location)}`;
  const parts = splitPath(location);
  if (location.endsWith('/') || parts.length === 0 || /(^|\/)\.$/.test(location))
    return `${subject}, which names a folder; it must be the path of a file.`;
  if (parts.includes('..')) return `${subject}; it must not contain the part "..".`;
  const long = parts.find((part) => Buffer.byteLength(part) > FILE_NAME_BYTES_MAX);
  if (long !== undefined)
    return `${subject}, a part of which has ${Buffer.byteLength(long)} bytes; a file name may have ${FILE_NAME_BYTES_MAX}.`;
  if (
    location.startsWith('/') &&
    !WRITABLE_FOLDERS.some((folder) => normalizePath(location).startsWith(folder))
  )
    return `${subject}; an absolute path must be below ${WRITABLE_FOLDERS.join(' or ')}, any other must be relative.`;
  return null;
}

/** Returns the error message for a value that is too long, or null. */
function validateValue(value: string, field: string): string | null {
  const bytes = Buffer.byteLength(value);
  if (bytes <= SECRET_VALUE_BYTES_MAX) return null;
  return `${field} has ${bytes} bytes in UTF-8; a value may have ${SECRET_VALUE_BYTES_MAX}.`;
}

/** Returns the error message for two secrets at one location, or for a file where another secret needs a folder. */
function findConflict(secrets: readonly Secret[]): string | null {
  const indexByLocation = new Map<string, number>();
  for (const [index, secret] of secrets.entries()) {
    const key = `${secret.type} ${secret.type === 'env' ? secret.location : normalizePath(secret.location)}`;
    const first = indexByLocation.get(key);
    if (first !== undefined)
      return `secrets.${index}.location is ${quoteValue(secret.location)}, which secrets.${first} has already; give each its own.`;
    indexByLocation.set(key, index);
  }
  for (const [index, secret] of secrets.entries()) {
    if (secret.type === 'env') continue;
    const path = normalizePath(secret.location);
    for (let at = posix.dirname(path); at !== '.' && at !== '/'; at = posix.dirname(at)) {
      const parent = indexByLocation.get(`file ${at}`);
      if (parent !== undefined)
        return `secrets.${index}.location is ${quoteValue(secret.location)}, which is below the file of secrets.${parent}; a path cannot be a file and a folder.`;
    }
  }
  return null;
}

const splitPath = (location: string): string[] =>
  location.split('/').filter((part) => part !== '' && part !== '.');

/** Returns the path without empty parts and `.`, so that two spellings of one file are equal. */
function normalizePath(location: string): string {
  return `${location.startsWith('/') ? '/' : ''}${splitPath(location).join('/')}`;
}
