/**
 * Reads and checks the settings. No other module reads the environment. A wrong setting ends the start with a message that
 * names it. The libraries of OpenTelemetry would read the `OTEL_` variables themselves, but get each of them as an argument.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BANNER_PATH } from '@switchyard/contract/site/banner.ts';
import { SEARCH_PATH } from '@switchyard/contract/site/search.ts';
import type { Allocation } from '@switchyard/runner';
import type { Capacity } from '@switchyard/worker/execute/slots.ts';
import { ConfigError } from './config-error.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import { readLabels } from './settings/label-settings.ts';
import { readTrustedProxies } from './settings/network-settings.ts';
import {
  PROVISIONER_VARIABLES,
  type ProvisionerSettings,
  readProvisionerSettings,
} from './settings/provisioner-settings.ts';
import { type Environment, readChoice, readInteger } from './settings/read-setting.ts';
import { readSsoSettings, SSO_VARIABLES, type SsoSettings } from './settings/sso-settings.ts';
import { type ProblemThresholds, readNetworks, readProblemThresholds } from './settings/webhook-settings.ts';
import { readCapacity, readResources } from './settings/worker-settings.ts';
import { readTracingSettings, type TracingSettings } from './tracing/settings.ts';

export { ConfigError } from './config-error.ts';

/** The settings that say where an installation stores its data. */
export interface StorageConfig {
  /** Absolute path of the data folder. */
  data: string;
  /** A `postgres://` address, or null for SQLite in the data folder. */
  postgres: string | null;
  /** The bucket for blobs; null without one. */
  s3: {
    address: string;
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  } | null;
  /** Absolute path of a folder for blobs that several processes share, for example on NFS; null without one. */
  sharedBlobs: string | null;
  /** 32 bytes from which the server derives all keys; null for the key in the data folder. */
  masterKey: Buffer | null;
}

/** The settings of a process. */
export interface Config extends StorageConfig {
  host: string;
  port: number;
  /** Without a trailing slash; null for the address on which the server listens. */
  publicUrl: string | null;
  /** The certificate of HTTPS; null for plain HTTP. */
  tls: TlsSettings | null;
  role: 'all' | 'server' | 'worker';
  capacity: Capacity;
  /** Labels of the worker of this process. */
  labels: readonly string[];
  /** The allocation that the worker of this process offers; null for slots alone. */
  resources: Allocation | null;
  containment: 'sandbox' | 'limits' | null;
  rateLimit: { perMinute: number; burst: number } | null;
  /** Addresses and networks of the proxies whose `X-Forwarded-For` names the caller. */
  trustedProxies: readonly string[];
  /** Callers that may create an account without a token: those on this machine while it listens to no other, all, or none. */
  signUp: 'loopback' | 'open' | 'closed';
  /** Addresses of the announcement and of search for the pages: a path of this server or a whole address. */
  site: { banner: string; search: string };
  logLevel: LogLevel;
  /** null without an identity provider. */
  sso: SsoSettings | null;
  /** Networks that webhooks may reach besides public addresses; null for this machine while the server listens to it alone. */
  webhookNetworks: string[] | null;
  problemThresholds: ProblemThresholds;
  /** null: nobody starts workers but the operator. */
  provisioner: ProvisionerSettings | null;
  /** null: no spans are exported. */
  tracing: TracingSettings | null;
}

/** PEM files of the operator, or a certificate that the server issues and renews in the data folder. */
export type TlsSettings =
  | { kind: 'files'; certificatePath: string; keyPath: string }
  | { kind: 'self-signed' };

/**
 * Reads only the settings of the storage. A command on a backup or a database must not fail because of another setting in the
 * same shell. Throws ConfigError for a wrong one, and for the name of an unknown one.
 */
export function readStorageConfig(env: Environment = process.env): StorageConfig {
  const known = new Set([...VARIABLES, ...CLIENT_VARIABLES]);
  for (const name of Object.keys(env)) {
    if (name.startsWith('SWITCHYARD_') && !known.has(name)) {
      throw new ConfigError(
        `${name} is set, but there is no such setting; there are ${VARIABLES.join(', ')}.`,
      );
    }
  }
  const postgres = readDatabase(env);
  const sharedBlobs = readSharedFolder(env);
  return {
    data: resolve(env.SWITCHYARD_DATA || './data'),
    postgres,
    s3: sharedBlobs === null ? readBlobs(env) : null,
    sharedBlobs,
    masterKey: readMasterKey(env),
  };
}

/** Reads all settings. Throws ConfigError for a wrong or unknown one. */
export function readConfig(env: Environment = process.env): Config {
  const storage = readStorageConfig(env);
  return {
    ...storage,
    host: env.SWITCHYARD_HOST || '127.0.0.1',
    port: readInteger(env, 'SWITCHYARD_PORT', { fallback: 8080, min: 0, max: 65_535 }),
    publicUrl: readPublicUrl(env),
    tls: readTls(env),
    role: readRole(env, storage),
    capacity: readCapacity(env),
    labels: readLabels(env, 'SWITCHYARD_LABELS'),
    resources: readResources(env),
    containment: env.SWITCHYARD_CONTAINMENT
      ? readChoice(env, 'SWITCHYARD_CONTAINMENT', ['sandbox', 'limits'], 'limits')
      : null,
    rateLimit: readRateLimit(env),
    trustedProxies: readTrustedProxies(env),
    signUp: readChoice(env, 'SWITCHYARD_SIGN_UP', ['loopback', 'open', 'closed'], 'loopback'),
    site: {
      banner: readSiteAddress(env, 'SWITCHYARD_BANNER_URL', BANNER_PATH),
      search: readSiteAddress(env, 'SWITCHYARD_SEARCH_URL', SEARCH_PATH),
    },
    webhookNetworks: readNetworks(env),
    problemThresholds: readProblemThresholds(env),
    sso: readSsoSettings(env),
    provisioner: readProvisionerSettings(env),
    tracing: readTracingSettings(env),
    // At a terminal the text of the start is enough; a stored log has more events.
    logLevel: readChoice(env, 'SWITCHYARD_LOG_LEVEL', LOG_LEVELS, process.stderr.isTTY ? 'warn' : 'info'),
  };
}

const VARIABLES = [
  'SWITCHYARD_HOST',
  'SWITCHYARD_PORT',
  'SWITCHYARD_DATA',
  'SWITCHYARD_DATABASE',
  'SWITCHYARD_BLOBS',
  'SWITCHYARD_PUBLIC_URL',
  'SWITCHYARD_TLS',
  'SWITCHYARD_TLS_CERT',
  'SWITCHYARD_TLS_KEY',
  'SWITCHYARD_ROLE',
  'SWITCHYARD_CAPACITY',
  'SWITCHYARD_LABELS',
  'SWITCHYARD_RESOURCES',
  'SWITCHYARD_CONTAINMENT',
  'SWITCHYARD_RATE_LIMIT',
  'SWITCHYARD_TRUSTED_PROXIES',
  'SWITCHYARD_SIGN_UP',
  'SWITCHYARD_BANNER_URL',
  'SWITCHYARD_SEARCH_URL',
  'SWITCHYARD_KEY',
  'SWITCHYARD_WEBHOOK_NETWORKS',
  'SWITCHYARD_QUEUE_TROUBLE',
  'SWITCHYARD_LOG_LEVEL',
  ...SSO_VARIABLES,
  ...PROVISIONER_VARIABLES,
];

/** Settings of clients, which often are in the same shell. */
export const CLIENT_VARIABLES = [
  'SWITCHYARD_URL',
  'SWITCHYARD_TOKEN',
  'SWITCHYARD_APP',
  'SWITCHYARD_CONFIG',
  'SWITCHYARD_PROFILE',
  'SWITCHYARD_PACKAGE_CACHE',
];

/** Returns the role of the process. Throws ConfigError for one that needs storage that other processes reach too. */
function readRole(env: Environment, { postgres, s3, sharedBlobs, masterKey }: StorageConfig): Config['role'] {
  const role = readChoice(env, 'SWITCHYARD_ROLE', ['all', 'server', 'worker'], 'all');
  if (role === 'worker' && postgres === null) {
    throw new ConfigError(
      'SWITCHYARD_ROLE is "worker", but a worker of this kind reads the PostgreSQL database of its server, and SWITCHYARD_DATABASE names none. Set it to a postgres:// address, or start a worker that needs no database with `npm run worker`.',
    );
  }
  // The one server on SQLite shares nothing: remote workers reach it over HTTP.
  if (role === 'all' || postgres === null) return role;
  if ((s3 ?? sharedBlobs) === null || masterKey === null) {
    const missing =
      (s3 ?? sharedBlobs) === null
        ? 'SWITCHYARD_BLOBS, the bucket or folder they share'
        : 'SWITCHYARD_KEY, the key they share';
    throw new ConfigError(
      `SWITCHYARD_ROLE is "${role}", and the processes on one PostgreSQL database need ${missing}; set it, or the role to all.`,
    );
  }
  return role;
}

function readDatabase(env: Environment): string | null {
  const value = env.SWITCHYARD_DATABASE;
  if (!value) return null;
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new ConfigError(
      'SWITCHYARD_DATABASE is not an address of the form postgres://user:password@host:port/name. Give one, or leave it out for SQLite in the data folder.',
    );
  }
  return value;
}

function readBlobs(env: Environment): Config['s3'] {
  const address = env.SWITCHYARD_BLOBS;
  if (!address) return null;
  if (!address.startsWith('s3://') || !URL.canParse(address)) {
    throw new ConfigError(
      'SWITCHYARD_BLOBS is not of the form s3://bucket?endpoint=… or file:///folder. Give one, or leave it out for the data folder.',
    );
  }
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new ConfigError(
      'SWITCHYARD_BLOBS names a bucket, but AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set. Set both.',
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
      `SWITCHYARD_BLOBS is "${address}"; a folder needs three slashes and its absolute path, such as file:///mnt/switchyard-blobs.`,
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
      `SWITCHYARD_PUBLIC_URL is "${value}"; the server appends paths to it, so it must have no "?" and no "#".`,
    );
  }
  return value.replace(/\/+$/, '');
}

function readTls(env: Environment): TlsSettings | null {
  const { SWITCHYARD_TLS: mode, SWITCHYARD_TLS_CERT: certificate, SWITCHYARD_TLS_KEY: key } = env;
  if (!mode && !certificate && !key) return null;
  if (mode) readChoice(env, 'SWITCHYARD_TLS', ['self-signed'], 'self-signed');
  if (mode && (certificate || key))
    throw new ConfigError(
      'SWITCHYARD_TLS is "self-signed", and SWITCHYARD_TLS_CERT or SWITCHYARD_TLS_KEY names a file; the server has one certificate. Leave out one of them.',
    );
  if (!mode && !(certificate && key))
    throw new ConfigError(
      `${certificate ? 'SWITCHYARD_TLS_CERT' : 'SWITCHYARD_TLS_KEY'} is set without ${certificate ? 'SWITCHYARD_TLS_KEY' : 'SWITCHYARD_TLS_CERT'}; TLS needs a certificate and its private key. Set both.`,
    );
  if (readPublicUrl(env)?.startsWith('http:'))
    throw new ConfigError(
      `SWITCHYARD_PUBLIC_URL is "${env.SWITCHYARD_PUBLIC_URL}", but the server listens with TLS alone; it must be an https:// address.`,
    );
  return certificate && key
    ? { kind: 'files', certificatePath: resolve(certificate), keyPath: resolve(key) }
    : { kind: 'self-signed' };
}

/** Returns the address as a browser writes it, so that pages and headers can contain it unchanged. */
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
      `${name} contains a user or a password, which every reader would see. Leave them out.`,
    );
  return isPath ? `${pathname}${search}` : href;
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
