/**
 * The certificate that the server presents. It follows its files: a changed pair that is valid replaces the current one
 * for new connections, and one that is not is logged while the current one stays.
 *
 * Reads the files at an interval, because notifications of file systems miss renamed links, as in mounted secrets of
 * Kubernetes, and changes on network file systems.
 */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Config, TlsSettings } from '../config.ts';
import { errorMessage, type Log } from '../log.ts';
import type { Random } from '../random.ts';
import { type CertificatePair, checkPair, readPair } from './certificate-pair.ts';
import { listServerNames, readOrIssuePair } from './self-signed.ts';

/** The time between two reads of the files; longer than a tool needs to replace both. */
const CHECK_INTERVAL_MS = 5_000;
/** The same for the files that the server writes itself. */
const OWN_CHECK_INTERVAL_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const EXPIRY_WARNING_DAYS = 14;

/** The current certificate, and its changes. */
export interface Certificates {
  readonly current: CertificatePair;
  /** Calls back with each later pair. */
  onChange(listener: (pair: CertificatePair) => void): void;
  /** Ends the reading of the files. */
  stop(): void;
}

interface Parts {
  config: Config;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Reads the pair of the settings, and follows its files. Throws a ConfigError for a pair that cannot be served. */
export async function openCertificates(settings: TlsSettings, parts: Parts): Promise<Certificates> {
  const read = createReader(settings, parts);
  const { clock, log } = parts;
  let current = await read(null);
  const listeners: ((pair: CertificatePair) => void)[] = [];
  const report = createFailureReport(log);
  const warn = createExpiryWarning(clock, log);
  const intervalMs = settings.kind === 'files' ? CHECK_INTERVAL_MS : OWN_CHECK_INTERVAL_MS;
  let cancel = (): void => {};
  let isStopped = false;

  const check = async (): Promise<void> => {
    try {
      const pair = await read(current);
      report(null);
      if (pair !== current) {
        current = pair;
        for (const listener of listeners) listener(pair);
        log.info({ validTo: new X509Certificate(pair.certificate).validTo }, 'TLS certificate loaded');
      }
    } catch (error) {
      report(errorMessage(error));
    }
    warn(current);
    schedule();
  };
  const schedule = (): void => {
    if (!isStopped) cancel = clock.after(intervalMs, () => void check());
  };
  schedule();
  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

/** Returns the function that reads the pair; it returns the current pair itself when nothing has changed. */
function createReader(
  settings: TlsSettings,
  { config, ...parts }: Parts,
): (current: CertificatePair | null) => Promise<CertificatePair> {
  const isSame = (one: CertificatePair, other: CertificatePair | null): other is CertificatePair =>
    one.certificate === other?.certificate && one.key === other.key;
  if (settings.kind === 'self-signed') {
    const folder = join(config.data, 'tls');
    return async (current) => {
      const pair = await readOrIssuePair({ ...parts, folder, names: listServerNames(config) });
      return isSame(pair, current) ? current : pair;
    };
  }
  const source = {
    ...settings,
    certificateSetting: 'SWITCHYARD_TLS_CERT',
    keySetting: 'SWITCHYARD_TLS_KEY',
  };
  return async (current) => {
    const pair = await readPair(source);
    if (isSame(pair, current)) return current;
    checkPair(pair, source, parts.clock.now());
    return pair;
  };
}

/**
 * Returns a function that logs a failure once two checks in a row have found it. A tool replaces one file after the other,
 * and between them the key is not that of the certificate.
 */
function createFailureReport(log: Log): (reason: string | null) => void {
  let last: string | null = null;
  let isLogged = false;
  return (reason) => {
    if (reason !== last) isLogged = false;
    else if (reason !== null && !isLogged) {
      isLogged = true;
      log.error({ reason }, 'TLS certificate not loaded; the server presents the previous one');
    }
    last = reason;
  };
}

/** Returns a function that warns once a day while the certificate is about to expire, or has expired. */
function createExpiryWarning(clock: Clock, log: Log): (pair: CertificatePair) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return ({ certificate }) => {
    const now = clock.now();
    if (now - warnedAt < DAY_MS) return;
    const { validToDate, validTo } = new X509Certificate(certificate);
    if (validToDate.getTime() - now >= EXPIRY_WARNING_DAYS * DAY_MS) return;
    warnedAt = now;
    log.warn({ validTo }, 'TLS certificate expires soon; replace its files');
  };
}
