/**
 * The settings of traces: the `OTEL_` variables of the OpenTelemetry specification, which server/platform/config.ts passes. They are
 * checked here and handed to the libraries as arguments, so that the libraries need not read the environment.
 */
import { ConfigError } from '../config-error.ts';

/** The destination and the form of exported spans. */
export interface TracingSettings {
  /** The whole address of the receiver, such as `http://127.0.0.1:4318/v1/traces`. */
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  compression: 'gzip' | 'none';
  /** Paths of PEM files for an `https:` address; absent where the defaults of the host apply. */
  tls: { ca?: string; cert?: string; key?: string };
  serviceName: string;
  resourceAttributes: Record<string, string>;
  sampler: SamplerSettings;
  batch: { delayMs: number; queueSize: number; size: number; timeoutMs: number };
}

/** `ratio` is the share of traces that start here and are exported; a parent-based sampler follows the caller otherwise. */
export interface SamplerSettings {
  ratio: number;
  isParentBased: boolean;
}

type Environment = Record<string, string | undefined>;

const TRACES_PATH = 'v1/traces';
const DEFAULT_ENDPOINT = 'http://localhost:4318';
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const SAMPLER_NAMES = SAMPLERS.flatMap((name) => [name, `parentbased_${name}`]);

/** Returns the settings; null when no spans are exported. Throws a ConfigError for a wrong one. */
export function readTracingSettings(env: Environment): TracingSettings | null {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return null;
  const exporter = env.OTEL_TRACES_EXPORTER?.trim() || null;
  if (exporter === 'none') return null;
  if (exporter !== null && exporter !== 'otlp')
    throw new ConfigError(`OTEL_TRACES_EXPORTER is "${exporter}"; it must be otlp or none.`);
  if (exporter === null && !env.OTEL_EXPORTER_OTLP_ENDPOINT && !env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
    return null;
  checkProtocol(env);
  const attributes = readPairs(env, 'OTEL_RESOURCE_ATTRIBUTES');
  const queueSize = readPositive(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048);
  return {
    url: readUrl(env),
    headers: {
      ...readPairs(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...readPairs(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    timeoutMs: readPositive(env, findName(env, 'TIMEOUT'), 10_000),
    compression: readCompression(env),
    tls: readTls(env),
    serviceName: env.OTEL_SERVICE_NAME || attributes['service.name'] || 'switchyard',
    resourceAttributes: attributes,
    sampler: readSampler(env),
    batch: {
      delayMs: readPositive(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
      queueSize,
      size: Math.min(readPositive(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512), queueSize),
      timeoutMs: readPositive(env, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000),
    },
  };
}

/** Returns the name of the variable that counts: the one for traces, if it is set, else the one for all signals. */
function findName(env: Environment, suffix: string): string {
  const own = `OTEL_EXPORTER_OTLP_TRACES_${suffix}`;
  return env[own] ? own : `OTEL_EXPORTER_OTLP_${suffix}`;
}

function checkProtocol(env: Environment): void {
  const name = findName(env, 'PROTOCOL');
  const protocol = env[name] || 'http/protobuf';
  if (protocol !== 'http/protobuf')
    throw new ConfigError(
      `${name} is "${protocol}"; the server exports spans as http/protobuf alone, which collectors receive on port 4318. Leave it out, or set OTEL_TRACES_EXPORTER to none for no traces.`,
    );
}

/** An endpoint of all signals gets the path of traces appended, and one of traces is used as it is. */
function readUrl(env: Environment): string {
  const name = findName(env, 'ENDPOINT');
  const value = env[name] || DEFAULT_ENDPOINT;
  if (!/^https?:\/\//.test(value) || !URL.canParse(value))
    throw new ConfigError(`${name} is "${value}"; it must be an http:// or https:// address.`);
  return name.includes('_TRACES_') ? value : `${value.replace(/\/+$/, '')}/${TRACES_PATH}`;
}

/** Parses `key=value,key=value` with values in percent encoding. */
function readPairs(env: Environment, name: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const part of (env[name] ?? '').split(',')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const key = part.slice(0, Math.max(0, equals)).trim();
    const value = decodeValue(part.slice(equals + 1).trim());
    // The value may be a credential, so the message has only the key.
    if (key === '' || value === null)
      throw new ConfigError(
        `${name} has ${key === '' ? 'a part without a key' : `a malformed value of "${key}"`}; it must be key=value pairs separated by commas, with values in percent encoding.`,
      );
    pairs[key] = value;
  }
  return pairs;
}

function decodeValue(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function readPositive(env: Environment, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1) throw new ConfigError(`${name} is "${text}"; it must be a whole number from 1.`);
  return value;
}

function readCompression(env: Environment): TracingSettings['compression'] {
  const name = findName(env, 'COMPRESSION');
  const value = env[name] || 'none';
  if (value !== 'gzip' && value !== 'none')
    throw new ConfigError(`${name} is "${value}"; it must be gzip or none.`);
  return value;
}

function readTls(env: Environment): TracingSettings['tls'] {
  const ca = env[findName(env, 'CERTIFICATE')];
  const cert = env[findName(env, 'CLIENT_CERTIFICATE')];
  const key = env[findName(env, 'CLIENT_KEY')];
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
}

function readSampler(env: Environment): SamplerSettings {
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  if (!SAMPLER_NAMES.includes(name))
    throw new ConfigError(`OTEL_TRACES_SAMPLER is "${name}"; it must be one of ${SAMPLER_NAMES.join(', ')}.`);
  return { ratio: readRatio(env, name), isParentBased: name.startsWith('parentbased_') };
}

function readRatio(env: Environment, sampler: string): number {
  if (sampler.endsWith('always_on')) return 1;
  if (sampler.endsWith('always_off')) return 0;
  const text = env.OTEL_TRACES_SAMPLER_ARG || '1';
  const ratio = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1))
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG is "${text}"; it must be a number from 0 to 1.`);
  return ratio;
}
