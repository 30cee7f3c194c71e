/** What an `s3://` address says. */
import { ConfigError } from '../config.ts';
import type { Bucket } from './s3-requests.ts';

export interface S3Address extends Bucket {
  /** Goes before every key; ends in a slash. */
  prefix: string;
}

const PARAMETERS = ['endpoint', 'region', 'prefix'];

/**
 * Reads `s3://bucket?endpoint=http://127.0.0.1:9000&region=us-east-1&prefix=switchyard/`. Without an endpoint it is
 * Amazon's of the region, with the bucket in the host name; with one, the bucket is in the path. The region is us-east-1
 * and the prefix `switchyard/` when they are left out. Throws ConfigError; what it says never holds a password.
 */
export function parseS3Address(address: string): S3Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 's3:')
    fail('is not an address', 's3://bucket?endpoint=https://host&region=…&prefix=…');
  if (url.username || url.password || url.port || url.hash || !['', '/'].includes(url.pathname))
    fail(
      'has more than a bucket before the question mark',
      's3://bucket, and credentials in variables of their own',
    );
  const name = url.hostname;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name))
    fail(`names the bucket "${name}"`, '3 to 63 lowercase letters, digits, dots and hyphens');
  for (const parameter of url.searchParams.keys()) {
    if (!PARAMETERS.includes(parameter)) fail(`has the parameter "${parameter}"`, PARAMETERS.join(', '));
    if (url.searchParams.getAll(parameter).length > 1) fail(`has "${parameter}" twice`, 'each at most once');
  }
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!/^[a-z0-9-]+$/.test(region)) fail(`names the region "${region}"`, 'one such as us-east-1');
  const prefix = url.searchParams.get('prefix') ?? 'switchyard/';
  if (!/^(?:[\w-][\w.-]*\/)+$/.test(prefix))
    fail(
      `has the prefix "${prefix}"`,
      'folders of letters, digits, dots, hyphens and underscores, each with a slash after it',
    );
  const endpoint = url.searchParams.get('endpoint');
  return {
    name,
    region,
    prefix,
    url: endpoint === null ? amazon(name, region) : inPath(readEndpoint(endpoint), name),
  };
}

/** A certificate for `*.s3.…` does not cover a bucket with a dot in its name, which therefore goes into the path. */
function amazon(bucket: string, region: string): URL {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.')
    ? inPath(new URL(`https://${host}`), bucket)
    : new URL(`https://${bucket}.${host}`);
}

function inPath(endpoint: URL, bucket: string): URL {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`;
  return url;
}

function readEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    fail('has no usable endpoint', 'one such as https://host:9000');
  if (url.username || url.password || url.search || url.hash)
    fail(`has more than an address in its endpoint at ${url.host}`, 'scheme, host, port and path only');
  return url;
}

function fail(what: string, right: string): never {
  throw new ConfigError(`SWITCHYARD_BLOBS ${what}; right would be: ${right}.`);
}
