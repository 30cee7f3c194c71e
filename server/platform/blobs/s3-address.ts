/** Parses `s3://` addresses. */
import { ConfigError } from '../config.ts';
import type { Bucket } from './s3-requests.ts';

/** A bucket and the prefix of its objects. */
export interface S3Address extends Bucket {
  /** Precedes every key; ends with a slash. */
  prefix: string;
}

const PARAMETERS = ['endpoint', 'region', 'prefix'];

/**
 * Parses `s3://bucket?endpoint=http://127.0.0.1:9000&region=us-east-1&prefix=switchyard/`. Without an endpoint the address
 * is Amazon's in the region, with the bucket in the host name. With an endpoint the bucket is in the path. The default
 * region is us-east-1, the default prefix `switchyard/`. Throws ConfigError, whose message never contains a password.
 */
export function parseS3Address(address: string): S3Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 's3:')
    rejectAddress('is not an address', 's3://bucket?endpoint=https://host&region=…&prefix=…');
  if (url.username || url.password || url.port || url.hash || !['', '/'].includes(url.pathname))
    rejectAddress(
      'has more than a bucket before the question mark',
      's3://bucket, and credentials in variables of their own',
    );
  const name = url.hostname;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name))
    rejectAddress(`names the bucket "${name}"`, '3 to 63 lowercase letters, digits, dots and hyphens');
  for (const parameter of url.searchParams.keys()) {
    if (!PARAMETERS.includes(parameter))
      rejectAddress(`has the parameter "${parameter}"`, PARAMETERS.join(', '));
    if (url.searchParams.getAll(parameter).length > 1)
      rejectAddress(`has "${parameter}" twice`, 'each at most once');
  }
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!/^[a-z0-9-]+$/.test(region)) rejectAddress(`names the region "${region}"`, 'one such as us-east-1');
  const prefix = url.searchParams.get('prefix') ?? 'switchyard/';
  if (!/^(?:[\w-][\w.-]*\/)+$/.test(prefix))
    rejectAddress(
      `has the prefix "${prefix}"`,
      'folders of letters, digits, dots, hyphens and underscores, each with a slash after it',
    );
  const endpoint = url.searchParams.get('endpoint');
  return {
    name,
    region,
    prefix,
    url: endpoint === null ? formatAmazonUrl(name, region) : appendBucket(readEndpoint(endpoint), name),
  };
}

/** Returns Amazon's URL. A bucket with a dot goes into the path: a certificate for `*.s3.…` does not cover its host name. */
function formatAmazonUrl(bucket: string, region: string): URL {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.')
    ? appendBucket(new URL(`https://${host}`), bucket)
    : new URL(`https://${bucket}.${host}`);
}

function appendBucket(endpoint: URL, bucket: string): URL {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`;
  return url;
}

function readEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    rejectAddress('has no usable endpoint', 'one such as https://host:9000');
  if (url.username || url.password || url.search || url.hash)
    rejectAddress(
      `has more than an address in its endpoint at ${url.host}`,
      'scheme, host, port and path only',
    );
  return url;
}

function rejectAddress(problem: string, expected: string): never {
  throw new ConfigError(`SWITCHYARD_BLOBS ${problem}. Expected: ${expected}.`);
}
