/**
 * Chooses the server of a command. First come `SWITCHYARD_URL` and `SWITCHYARD_TOKEN`, then the profile, then a server that
 * keeps its data in this folder.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import tls from 'node:tls';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import { parseExactJson } from '@switchyard/contract/exact-json.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { createRepeat, type OnOutage } from '../errors/retry.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { checkToken, parseServerUrl } from './check-connection.ts';
import { type Profile, readProfiles } from './profiles.ts';

/** The server of a command, and where its address was found. */
export interface Connection extends Profile {
  /** `environment`, `folder`, or the name of the profile. */
  source: string;
}

const DEFAULT_URL = '127.0.0.1:8080';

/** Returns the server of a command. Throws when none is known, and for a profile that does not exist. */
export function findConnection({ env, cwd }: Pick<Terminal, 'env' | 'cwd'>, profile?: string): Connection {
  const saved = readProfiles(env);
  const name = profile ?? (env.SWITCHYARD_PROFILE || saved.current);
  const chosen = saved.profiles[name];
  if (!chosen && (profile !== undefined || env.SWITCHYARD_PROFILE))
    throw new CommandError(
      `There is no profile "${name}". Known profiles: ${Object.keys(saved.profiles).join(', ') || 'none'}. Add one with: switchyard login --profile ${name}`,
    );
  const { SWITCHYARD_TOKEN: token } = env;
  const url = env.SWITCHYARD_URL ? parseServerUrl('SWITCHYARD_URL', env.SWITCHYARD_URL) : undefined;
  // A token belongs to one server, so a profile never lends its token to another address.
  const own = chosen && (!url || chosen.url === url) ? chosen : undefined;
  const local = own || profile !== undefined ? undefined : findLocalServer(env, cwd);
  const found = {
    ...local,
    ...own,
    ...(url ? { url } : {}),
    ...(token ? { token: checkToken('SWITCHYARD_TOKEN', token) } : {}),
  };
  if (!found.url || !found.token)
    throw new CommandError(
      'No server is known: there is no profile, and SWITCHYARD_URL with SWITCHYARD_TOKEN is not set. Sign in with: switchyard login --url https://…',
      EXIT_CODES.forbidden,
    );
  const source = url || token ? 'environment' : own ? name : 'folder';
  return { ...found, url: found.url, token: found.token, source };
}

/** A server that was started in this folder: its token and the certificate that it issued. */
function findLocalServer(env: Terminal['env'], cwd: string): Partial<Profile> {
  const data = resolve(cwd, env.SWITCHYARD_DATA || 'data');
  const [path, authority] = [resolve(data, 'root-token'), resolve(data, 'tls', 'authority.pem')];
  const isSecure = existsSync(authority);
  const url = `${isSecure ? 'https' : 'http'}://${DEFAULT_URL}`;
  if (!existsSync(path)) return { url, ...(isSecure ? { authority } : {}) };
  return { url, token: readFileSync(path, 'utf8').trim(), ...(isSecure ? { authority } : {}) };
}

interface ConnectOptions {
  /** Ends the requests. */
  signal: AbortSignal;
  /** Called once for each time in which the server does not answer. */
  onOutage?: OnOutage;
  /** true: a server that has never answered is waited for as well. */
  expectsServer?: boolean;
}

/** Returns a client for the server. Its requests outlast a restart of the server: see `createRepeat`. */
export function connect(
  profile: Profile,
  { signal, onOutage = () => {}, expectsServer = false }: ConnectOptions,
): Client {
  trustConnection(profile);
  return createClient({
    url: profile.url,
    token: profile.token,
    fetch: (input, init) => fetch(input, { ...init, signal: init?.signal ?? signal }),
    parseJson: parseExactJson,
    repeat: createRepeat({ signal, onOutage, expectsServer }),
  });
}

/** Makes this process trust the certificate of the server, if the profile has its authority. */
export function trustConnection({ url, authority }: Profile): void {
  if (authority !== undefined && url.startsWith('https:')) trustAuthority(authority);
}

/** Makes this process trust certificates of the authority. */
function trustAuthority(path: string): void {
  if (!existsSync(path))
    throw new CommandError(
      `The certificate ${path} of the server does not exist. Sign in again with --authority.`,
    );
  // Node 20 has neither function; the package then brings its own (cli/build/node-20.ts).
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(path, 'utf8')]);
}
