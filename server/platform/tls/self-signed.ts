/**
 * The certificate that the server issues for itself in the folder `tls` of its data. An authority of this server signs it.
 * Clients trust the authority, so a renewed certificate changes nothing for them. Its key signs nothing else, and both
 * private keys have mode 0600.
 *
 * A certificate that clients trust directly was tried first: each renewal and each new name would break every client.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { writeFileDurably } from '../master-key.ts';
import type { Random } from '../random.ts';
import { type CertificatePair, checkPair, type PairSource, readPair } from './certificate-pair.ts';
import type { Issuer } from './issue-certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
/** Apple's clients refuse certificates of more than 825 days, also of private authorities. */
const CERTIFICATE_DAYS = 397;
const RENEWAL_DAYS = 30;
/** Clocks of clients may be behind. */
const BACKDATED_DAYS = 1;
const SERIAL_BYTES = 16;

interface Parts {
  folder: string;
  names: readonly string[];
  clock: Clock;
  random: Random;
  log: Log;
}

/** Returns the path of the certificate that clients have to trust. */
export function findAuthorityPath(dataFolder: string): string {
  return join(dataFolder, 'tls', 'authority.pem');
}

/** Lists the names under which clients reach this server: of this machine, its addresses, and the configured ones. */
export function listServerNames({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): string[] {
  const isWildcard = host === '0.0.0.0' || host === '::';
  const addresses = isWildcard
    ? Object.values(networkInterfaces()).flatMap((one) => (one ?? []).map(({ address }) => address))
    : [host];
  const publicHost = publicUrl === null ? [] : [new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')];
  const names = ['localhost', hostname(), '127.0.0.1', '::1', ...addresses, ...publicHost];
  // A zone such as %eth0 names an interface of this machine and is in no certificate.
  const plain = names.map((name) => name.replace(/%.*$/, '').toLowerCase());
  return [...new Set(plain)].filter((name) => isIP(name) !== 0 || /^[a-z0-9._-]{1,253}$/.test(name));
}

/** Returns the current pair; issues authority and certificate where they are missing, outdated, or for other names. */
export async function readOrIssuePair(parts: Parts): Promise<CertificatePair> {
  const certificate = createSource(parts.folder, 'server');
  const authority = createSource(parts.folder, 'authority');
  const issuer = await readIssuer(authority, parts.clock);
  const current = await readValidPair(certificate, parts.clock);
  if (issuer && current && isCurrent(current.parsed, issuer, parts)) return current.pair;
  await mkdir(parts.folder, { recursive: true });
  const usedIssuer = issuer ?? (await issueIssuer(authority, parts));
  const pair = await issuePair(certificate, usedIssuer, parts);
  parts.log.info(
    { names: parts.names, authority: authority.certificatePath, isNewAuthority: issuer === null },
    'TLS certificate issued',
  );
  return pair;
}

function createSource(folder: string, name: string): PairSource {
  return {
    certificatePath: join(folder, `${name}.pem`),
    keyPath: join(folder, `${name}.key`),
    certificateSetting: 'SWITCHYARD_TLS',
    keySetting: 'SWITCHYARD_TLS',
  };
}

/** Returns a pair that can be served; null for a missing, damaged or expired one, which is then issued again. */
async function readValidPair(
  source: PairSource,
  clock: Clock,
): Promise<{ pair: CertificatePair; parsed: X509Certificate } | null> {
  try {
    const pair = await readPair(source);
    return { pair, parsed: checkPair(pair, source, clock.now()) };
  } catch {
    return null;
  }
}

async function readIssuer(source: PairSource, clock: Clock): Promise<Issuer | null> {
  const valid = await readValidPair(source, clock);
  if (valid === null || isDueForRenewal(valid.parsed, clock, CERTIFICATE_DAYS)) return null;
  return { certificate: valid.parsed, key: createPrivateKey(valid.pair.key) };
}

function isCurrent(certificate: X509Certificate, issuer: Issuer, { names, clock }: Parts): boolean {
  const covers = (name: string): boolean =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  return (
    certificate.verify(issuer.certificate.publicKey) &&
    !isDueForRenewal(certificate, clock, RENEWAL_DAYS) &&
    names.every(covers)
  );
}

function isDueForRenewal({ validToDate }: X509Certificate, clock: Clock, days: number): boolean {
  return validToDate.getTime() - clock.now() < days * DAY_MS;
}

async function issueIssuer(source: PairSource, { clock, random }: Parts): Promise<Issuer> {
  const { issueAuthority } = await import('./issue-certificate.ts');
  const issued = issueAuthority({
    commonName: `Switchyard authority of ${hostname()}`,
    serialNumber: random.bytes(SERIAL_BYTES),
    ...computeValidity(AUTHORITY_DAYS, clock),
  });
  await writePair(source, issued);
  return { certificate: new X509Certificate(issued.certificate), key: createPrivateKey(issued.key) };
}

async function issuePair(
  source: PairSource,
  issuer: Issuer,
  { names, clock, random }: Parts,
): Promise<CertificatePair> {
  // Loaded on demand, because most servers issue no certificate and the library costs their start 40 ms.
  const { issueServerCertificate } = await import('./issue-certificate.ts');
  const issued = issueServerCertificate(
    {
      commonName: names[0] ?? 'localhost',
      serialNumber: random.bytes(SERIAL_BYTES),
      ...computeValidity(CERTIFICATE_DAYS, clock),
      names,
    },
    issuer,
  );
  await writePair(source, issued);
  return issued;
}

function computeValidity(days: number, clock: Clock): { validFrom: number; validTo: number } {
  const now = clock.now();
  return { validFrom: now - BACKDATED_DAYS * DAY_MS, validTo: now + days * DAY_MS };
}

/** Writes the key first: a certificate without its key would be issued again, and no reader sees half a file. */
async function writePair(source: PairSource, { certificate, key }: CertificatePair): Promise<void> {
  await writeFileDurably(source.keyPath, key);
  await writeFileDurably(source.certificatePath, certificate);
  // Clients of other users read it.
  await chmod(source.certificatePath, 0o644);
}
