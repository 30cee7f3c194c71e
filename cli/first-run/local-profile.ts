/** Saves the profile `local` for the server of `npm start`, so that `switchyard` needs no sign-in on this machine. */
import { type Profile, readProfiles, writeProfiles } from '../profiles/profiles.ts';
import type { Environment } from '../profiles/user-folders.ts';

const NAME = 'local';

/**
 * Saves the profile. A profile of the same name for another server stays as it is.
 * Returns the name of the profile of the server; undefined when it has none. Throws when the folder is not writable.
 */
export function saveLocalProfile(env: Environment, profile: Profile): string | undefined {
  const { current, profiles } = readProfiles(env);
  const saved = profiles[NAME];
  // The same token is of the same server, at another address.
  if (saved && saved.url !== profile.url && saved.token !== profile.token) return undefined;
  // The application that a person has chosen stays.
  const next = { ...profile, ...(saved?.application ? { application: saved.application } : {}) };
  writeProfiles(env, { current: current || NAME, profiles: { ...profiles, [NAME]: next } });
  return NAME;
}
