/**
 * The settings, read from the environment once and checked; nobody else reads it. A wrong one stops the start with a
 * sentence that names it.
 */
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXECUTION_CLASSES, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { BANNER_PATH } from '@switchyard/contract/site/banner.ts';
import { SEARCH_PATH } from '@switchyard/contract/site/search.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

export interface Config {
  host: string;
  port: number;
  /** Absolute path of the data folder. */
  data: string;
  /** A `postgres://` address, or null for SQLite in the data folder. */
  postgres: string | null;
  /** Where blobs go when not into the data folder. */
  s3: {
    address: string;
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  } | null;
  /** Absolute path of a folder for blobs that several processes may share, such as one on NFS; null: not into such a one. */
  sharedBlobs: string | null;
  /** Without a trailing slash; null: made from host and port once listening. */
  publicUrl: string | null;
  role: 'all' | 'server' | 'worker';
  capacity: Capacity;
  containment: 'sandbox' | 'limits' | null;
  rateLimit: { perMinute: number; burst: number } | null;
  /** Who may make an account without a token: callers on this machine while it listens to no other, anyone, nobody. */
  signUp: 'loopback' | 'open' | 'closed';
  /** Where the pages ask for their announcement and for search results: a path of this server or a whole address. */
  site: { banner: string; search: string };
  /** 32 bytes that every key of the server is derived from; null: kept in the data folder. */
  masterKey: Buffer | null;
  logLevel: LogLevel;
  /** Networks that webhooks may reach beside public addresses; null: this machine, while the server listens to it alone. */
  webhookNetworks: string[] | null;
}

/** Slots for runs on this machine: shared by every class that has none of its own. */
export interface Capacity {
  shared: number;
  perClass: Partial<Record<ExecutionClass, number>>;
}

export class ConfigError extends Error {}

type Environment = Record<string, string | undefined>;

export function readConfig(env: Environment = process.env): Config {
  const known = new Set([...VARIABLES, ...CLIENT_VARIABLES]);
  for (const name of Object.keys(env)) {
    if (name.startsWith('SWITCHYARD_') && !known.has(name)) {
      throw new ConfigError(
        `${name} is set, but there is no such setting; there are ${VARIABLES.join(', ')}.`,
      );
    }
  }
  const role = choice(env, 'SWITCHYARD_ROLE', ['all', 'server', 'worker'], 'all');
  const postgres = readDatabase(env);
  if (role !== 'all' && postgres === null) {
    throw new ConfigError(
      `SWITCHYARD_ROLE is "${role}", but several processes can only share PostgreSQL: set SWITCHYARD_DATABASE to a postgres:// address, or the role to all.`,
    );
  }
  const sharedBlobs = readSharedFolder(env);
  const s3 = sharedBlobs === null ? readBlobs(env) : null;
  const masterKey = readMasterKey(env);
  if (role !== 'all' && ((s3 ?? sharedBlobs) === null || masterKey === null)) {
    const missing =
      (s3 ?? sharedBlobs) === null
        ? 'SWITCHYARD_BLOBS, the bucket or folder they share'
        : 'SWITCHYARD_KEY, the key they share';
    throw new ConfigError(
      `SWITCHYARD_ROLE is "${role}", and several processes need ${missing}; set it, or the role to all.`,
    );
  }
  return {
    host: env.SWITCHYARD_HOST || '127.0.0.1',
    port: integer(env, 'SWITCHYARD_PORT', 8080, 0, 65_535),
    data: resolve(env.SWITCHYARD_DATA || './data'),
    postgres,
    s3,
    sharedBlobs,
    publicUrl: readPublicUrl(env),
    role,
    capacity: readCapacity(env),
    containment: env.SWITCHYARD_CONTAINMENT
      ? choice(env, 'SWITCHYARD_CONTAINMENT', ['sandbox', 'limits'], 'limits')
      : null,
    rateLimit: readRateLimit(env),
    signUp: choice(env, 'SWITCHYARD_SIGN_UP', ['loopback', 'open', 'closed'], 'loopback'),
    site: {
      banner: readSiteAddress(env, 'SWITCHYARD_BANNER_URL', BANNER_PATH),
      search: readSiteAddress(env, 'SWITCHYARD_SEARCH_URL', SEARCH_PATH),
    },
    masterKey,
    // At a terminal the start's own words are enough; a log that is kept tells more.
    webhookNetworks: readNetworks(env),
    logLevel: choice(env, 'SWITCHYARD_LOG_LEVEL', LOG_LEVELS, process.stderr.isTTY ? 'warn' : 'info'),
  };
}

const VARIABLES = [
  'SWITCHYARD_HOST',
  'SWITCHYARD_PORT',
  'SWITCHYARD_DATA',
  'SWITCHYARD_DATABASE',
  'SWITCHYARD_BLOBS',
  'SWITCHYARD_PUBLIC_URL',
  'SWITCHYARD_ROLE',
  'SWITCHYARD_CAPACITY',
  'SWITCHYARD_CONTAINMENT',
  'SWITCHYARD_RATE_LIMIT',
  'SWITCHYARD_SIGN_UP',
  'SWITCHYARD_BANNER_URL',
  'SWITCHYARD_SEARCH_URL',
  'SWITCHYARD_KEY',
  'SWITCHYARD_WEBHOOK_NETWORKS',
  'SWITCHYARD_LOG_LEVEL',
];

/** Settings of clients, which often stand in the same shell. */
const CLIENT_VARIABLES = ['SWITCHYARD_URL', 'SWITCHYARD_TOKEN'];

function choice<const T extends readonly string[]>(
  env: Environment,
  name: string,
  choices: T,
  fallback: T[number],
): T[number] {
  const value = env[name] || fallback;
  const found = choices.find((one) => one === value);
  if (found === undefined)
    throw new ConfigError(`${name} is "${value}"; it must be one of ${choices.join(', ')}.`);
  return found;
}

function integer(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max) {
    throw new ConfigError(`${name} is "${text}"; it must be a whole number from ${min} to ${max}.`);
  }
  return value;
}

function readDatabase(env: Environment): string | null {
  const value = env.SWITCHYARD_DATABASE;
  if (!value) return null;
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new ConfigError(
      'SWITCHYARD_DATABASE is not an address of the form postgres://user:password@host:port/name; leave it out for SQLite in the data folder.',
    );
  }
  return value;
}

function readBlobs(env: Environment): Config['s3'] {
  const address = env.SWITCHYARD_BLOBS;
  if (!address) return null;
  if (!address.startsWith('s3://') || !URL.canParse(address)) {
    throw new ConfigError(
      'SWITCHYARD_BLOBS is not of the form s3://bucket?endpoint=… or file:///folder; leave it out for the data folder.',
    );
  }
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new ConfigError(
      'SWITCHYARD_BLOBS names a bucket, but AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set.',
    );
  }
  return {
    address,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) },
  };
}

function readSharedFolder(env: Environment): string | null {
  const address = env.SWITCHYARD_BLOBS;
  if (!address?.startsWith('file:')) return null;
  const url = URL.canParse(address) ? new URL(address) : null;
  const isFolder = url !== null && address.startsWith('file:///') && url.pathname !== '/';
  if (!isFolder || url.search || url.hash)
    throw new ConfigError(
      `SWITCHYARD_BLOBS is "${address}"; a folder is named by three slashes and its absolute path, such as file:///mnt/switchyard-blobs.`,
    );
  return resolve(fileURLToPath(url));
}

function readPublicUrl(env: Environment): string | null {
  const value = env.SWITCHYARD_PUBLIC_URL;
  if (!value) return null;
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
    throw new ConfigError(`SWITCHYARD_PUBLIC_URL is "${value}"; it must be an http:// or https:// address.`);
  }
  if (/[?#]/.test(value)) {
    throw new ConfigError(
      `SWITCHYARD_PUBLIC_URL is "${value}"; paths are put behind it, so it must have no "?" and no "#".`,
    );
  }
  return value.replace(/\/+$/, '');
}

/** Written as a browser would, so that it can stand in a page and in a header as it is. */
function readSiteAddress(env: Environment, name: string, fallback: string): string {
  const value = env[name] || fallback;
  const isPath = /^\/(?![/\\])/.test(value);
  if (!(isPath || /^https?:\/\//.test(value)) || !URL.canParse(value, 'http://localhost')) {
    throw new ConfigError(
      `${name} is "${value}"; it must be an http:// or https:// address, or a path of this server such as ${fallback}.`,
    );
  }
  const { href, pathname, search, username, password } = new URL(value, 'http://localhost');
  if (username || password)
    throw new ConfigError(
      `${name} has a user or a password in it, which every reader would see; leave it out.`,
    );
  return isPath ? `${pathname}${search}` : href;
}

/** `4` is four shared slots; `6c9500mb870s=4,8c16gb12h=1` gives classes slots of their own. */
function readCapacity(env: Environment): Capacity {
  const text = env.SWITCHYARD_CAPACITY;
  const capacity: Capacity = { shared: availableParallelism(), perClass: {} };
  if (!text) return capacity;
  const given = new Set<string>();
  for (const part of text.split(',')) {
    const match = /^\s*(?:([a-z0-9]+)\s*=\s*)?(\d{1,6})\s*$/.exec(part);
    const name = match?.[1];
    const known = EXECUTION_CLASSES.find((one) => one === name);
    if (!match || (name !== undefined && known === undefined)) {
      throw new ConfigError(
        `SWITCHYARD_CAPACITY has "${part.trim()}"; it must be a number of slots, or class=slots with a class of ${EXECUTION_CLASSES.join(', ')}.`,
      );
    }
    const of = known ?? 'shared';
    if (given.has(of)) {
      throw new ConfigError(
        `SWITCHYARD_CAPACITY is "${text}", which says twice how many slots ${known ? `the class ${known} has` : 'are shared'}; it must say so once.`,
      );
    }
    given.add(of);
    if (known) capacity.perClass[known] = Number(match[2]);
    else capacity.shared = Number(match[2]);
  }
  if (capacity.shared === 0 && !Object.values(capacity.perClass).some((slots) => slots > 0)) {
    throw new ConfigError(
      `SWITCHYARD_CAPACITY is "${text}", so no run could ever start; give at least one slot.`,
    );
  }
  return capacity;
}

function readRateLimit(env: Environment): Config['rateLimit'] {
  const text = env.SWITCHYARD_RATE_LIMIT || '6000/1000';
  if (text === '0') return null;
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(text);
  const perMinute = Number(match?.[1]);
  const burst = Number(match?.[2]);
  if (!match || perMinute < 1 || burst < 1) {
    throw new ConfigError(
      `SWITCHYARD_RATE_LIMIT is "${text}"; it must be requests per minute and burst, such as 6000/1000, or 0 for none.`,
    );
  }
  return { perMinute, burst };
}

function readMasterKey(env: Environment): Buffer | null {
  const text = env.SWITCHYARD_KEY;
  if (!text) return null;
  const key = Buffer.from(text, 'base64');
  if (key.length !== 32)
    throw new ConfigError(`SWITCHYARD_KEY has ${key.length} bytes; it must be 32 random bytes in base64.`);
  return key;
}

/** `loopback`, `none`, or networks and single addresses, such as `10.1.0.0/16,fd00::/8,192.168.1.5`. */
function readNetworks(env: Environment): string[] | null {
  const value = env.SWITCHYARD_WEBHOOK_NETWORKS;
  if (!value || value === 'loopback') return null;
  if (value === 'none') return [];
  const networks = value.split(',').map((one) => one.trim());
  for (const network of networks) {
    const [address = '', prefix, ...rest] = network.split('/');
    const bits = isIP(address) === 4 ? 32 : 128;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
    if (isIP(address) === 0 || !isPrefix || rest.length > 0)
      throw new ConfigError(
        `SWITCHYARD_WEBHOOK_NETWORKS has "${network}"; it must be loopback, none, or networks and addresses with commas between them, such as 10.1.0.0/16,192.168.1.5.`,
      );
  }
  return networks;
}
