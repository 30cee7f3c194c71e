/**
 * Reads and checks a certificate with its private key. A refused pair is a ConfigError whose message names the setting and
 * the remedy. Each check is one that a client would fail on, or that exposes the key, so that no such pair is ever served.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { formatRfc3339 } from '../clock.ts';
import { ConfigError } from '../config.ts';
import { errorMessage } from '../log.ts';

/** Certificate and private key, as PEM. */
export interface CertificatePair {
  /** The certificate of the server, followed by those of intermediate authorities. */
  certificate: string;
  key: string;
}

/** The files of a pair, and the settings that name them in messages. */
export interface PairSource {
  certificatePath: string;
  keyPath: string;
  /** The setting that names each file. */
  certificateSetting: string;
  keySetting: string;
}

/** A chain has a few certificates of 2 kB each. */
const FILE_BYTES_MAX = 1024 * 1024;
/** Permissions of users that are neither the owner nor in the group of a file. */
const OTHERS_MODE = 0o007;

/** Reads both files without checking their content. Throws a ConfigError for an unreadable file, or a key open to others. */
export async function readPair(source: PairSource): Promise<CertificatePair> {
  const certificate = await readPem(source.certificateSetting, source.certificatePath);
  const key = await readPem(source.keySetting, source.keyPath);
  const { mode } = await stat(source.keyPath);
  if ((mode & OTHERS_MODE) !== 0)
    throw new ConfigError(
      `${source.keySetting} is "${source.keyPath}": every user of this machine has access to the private key (mode ${formatMode(mode)}). Run chmod 600 on it, or chmod 640 with a group of the server.`,
    );
  return { certificate, key };
}

/** Checks that a server can present the pair at the instant `now`, in milliseconds since the epoch. Throws a ConfigError otherwise. */
export function checkPair(pair: CertificatePair, source: PairSource, now: number): X509Certificate {
  const fromCertificate = `${source.certificateSetting} is "${source.certificatePath}"`;
  const fromKey = `${source.keySetting} is "${source.keyPath}"`;
  const certificate = parseCertificate(pair.certificate, fromCertificate);
  const key = parseKey(pair.key, fromKey);
  if (!certificate.checkPrivateKey(key))
    throw new ConfigError(
      `${fromKey}, which is not the key of the certificate in "${source.certificatePath}". Give the certificate and the key that were issued together.`,
    );
  const { validFromDate, validToDate } = certificate;
  if (validToDate.getTime() <= now)
    throw new ConfigError(
      `${fromCertificate}: the certificate expired at ${formatRfc3339(validToDate.getTime())}, and no client accepts it. Renew it.`,
    );
  if (validFromDate.getTime() > now)
    throw new ConfigError(
      `${fromCertificate}: the certificate is valid from ${formatRfc3339(validFromDate.getTime())}, which is in the future. Check the clock of this machine, or wait until then.`,
    );
  try {
    createSecureContext({ cert: pair.certificate, key: pair.key });
  } catch (error) {
    throw new ConfigError(
      `${fromCertificate}: TLS cannot use the certificate (${errorMessage(error)}). Check each certificate of the file.`,
    );
  }
  return certificate;
}

async function readPem(setting: string, path: string): Promise<string> {
  try {
    const facts = await stat(path);
    // Reading a pipe or a device may never end.
    if (!facts.isFile()) throw new Error('it is not a file');
    if (facts.size > FILE_BYTES_MAX) throw new Error(`it has ${facts.size} bytes, too many for a PEM file`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `${setting} is "${path}", which the server cannot read: ${errorMessage(error)}. Give the path of a PEM file that its user may read.`,
    );
  }
}

function parseCertificate(pem: string, place: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ConfigError(
      `${place}, which has no certificate in PEM format. The file must begin with -----BEGIN CERTIFICATE-----.`,
    );
  }
}

function parseKey(pem: string, place: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    if (pem.includes('ENCRYPTED'))
      throw new ConfigError(
        `${place}: the private key is encrypted, and the server has no passphrase. Decrypt it with openssl pkey, and protect the file by its permissions.`,
      );
    throw new ConfigError(
      `${place}, which has no private key in PEM format. The file must begin with -----BEGIN PRIVATE KEY-----.`,
    );
  }
}

function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
