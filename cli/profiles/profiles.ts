/**
 * The profiles of a person: for each name a server and the token for it. The file is in the configuration folder of the
 * system, readable by its owner alone.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';
import { CommandError } from '../errors/command-error.ts';
import { type Environment, findConfigFolder } from './user-folders.ts';

/** One server. */
const Profile = Type.Object({
  url: Type.String(),
  token: Type.String(),
  /** Path of the certificate of its authority, which the system does not know. */
  authority: Type.Optional(Type.String()),
  /** The application of commands without `--app`. */
  application: Type.Optional(Type.String()),
});
export type Profile = Static<typeof Profile>;

const Profiles = Type.Object({
  /** Name of the profile of commands without `--profile`; empty for none. */
  current: Type.String(),
  profiles: Type.Record(Type.String(), Profile),
});
export type Profiles = Static<typeof Profiles>;
const parseProfiles = createJsonParser(Profiles);

function findProfilesPath(env: Environment): string {
  return join(findConfigFolder(env), 'profiles.json');
}

/** Returns the profiles; none without a file. Throws when others may read the tokens, or the file is damaged. */
export function readProfiles(env: Environment): Profiles {
  const path = findProfilesPath(env);
  if (!existsSync(path)) return { current: '', profiles: {} };
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw new CommandError(`Other users may read the tokens in ${path}. Run: chmod 600 '${path}'`);
  try {
    return parseProfiles(readFileSync(path, 'utf8'), path);
  } catch {
    throw new CommandError(
      `${path} is not the JSON that "switchyard login" wrote. Move it away and sign in again.`,
    );
  }
}

/** Stores the profiles. The file is replaced as a whole, so a reader never sees half of it. */
export function writeProfiles(env: Environment, profiles: Profiles): string {
  const path = findProfilesPath(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, path);
  return path;
}
