/**
 * Starts the server; process.ts runs it as a process. services.ts creates the objects that hold state. The launcher of apps
 * starts first, while this process is small: the cost of starting a process grows with the memory of its parent.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OperationId } from '@switchyard/contract/operations.ts';
import { type Runner, startRunner } from '@switchyard/runner';
import type { ApiTarget } from '@switchyard/worker/access/protocol.ts';
import type { FastifyInstance } from 'fastify';
import { createAuthenticator } from './accounts/account/authenticate.ts';
import type { FirstStart } from './accounts/account/first-start.ts';
import { isLoopbackAddress } from './accounts/account/sign-up.ts';
import { AuditRecorder } from './accounts/audit/recorder.ts';
import { createSessionAuthenticator } from './accounts/sessions/sessions.ts';
import type { Fetch } from './accounts/sso/identity-provider.ts';
import { ResultsWorkerPool } from './experiments/results/results-worker-pool.ts';
import { createHandlers } from './handlers.ts';
import type { InstallationState } from './ops/installation/installation-state.ts';
import { withSettingName } from './ops/installation/setting-errors.ts';
import { archiveDamagedLog, bindInstallation, lockAndInspectDataFolder } from './ops/installation/start.ts';
import { migrations } from './ops/migrations.ts';
import { serveSearch } from './ops/search/search.ts';
import { type ConsoleFiles, loadConsole, serveConsole } from './ops/site/console.ts';
import { serveOpenApiDocuments } from './ops/site/openapi-documents.ts';
import { createErrorPages, loadSite, serveSite } from './ops/site/site.ts';
import { type ResolveName, resolveName } from './ops/webhooks/addresses.ts';
import type { PostDelivery } from './ops/webhooks/send.ts';
import type { BlobStore } from './platform/blobs/blob-store.ts';
import { openBlobs } from './platform/blobs/open-blob-store.ts';
import { type Clock, systemClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database/database.ts';
import { migrate } from './platform/database/migrate.ts';
import { openDatabase } from './platform/database/open.ts';
import type { Handlers, TokenCredential } from './platform/http/handlers/handler.ts';
import { computeConnectionsMax, readDescriptorLimit } from './platform/http/limits/connections.ts';
import { checkAddress, closeHttp, listen } from './platform/http/listen.ts';
import { createHttpServer } from './platform/http/server.ts';
import { createLog, type Log } from './platform/log.ts';
import { createIdSequence, type Random, systemRandom } from './platform/random.ts';
import { type Certificates, openCertificates } from './platform/tls/certificates.ts';
import { RequestSpans } from './platform/tracing/request-spans.ts';
import { createRunAuthenticator } from './runs/access/run-tokens.ts';
import { startWorker } from './runs/execute/start-worker.ts';
import type { ClusterAccess } from './runs/provisioner/create-provisioner.ts';
import { createWorkerAuthenticator } from './runs/workers/worker-tokens.ts';
import { createContext, createServices, type ProcessState, type Services } from './services.ts';

/** Replacements that tests pass. */
export interface ServerOverrides {
  clock?: Clock;
  random?: Random;
  log?: Log;
  /** Resolves the host names of webhook receivers. */
  resolveHostname?: ResolveName;
  /** The machine of a simulated server: its disk, its blobs, and messages in place of sockets. */
  machine?: Machine;
  /** true: the launcher of apps starts with the first run. */
  launchesOnDemand?: boolean;
  /** Servers of one process share its threads. */
  resultsWorkerPool?: ResultsWorkerPool;
  /** The folder of the built site; without it the server serves no site. */
  site?: string;
  /** The folder of the built console; without it the server serves no console. */
  console?: string;
}

/** The parts of a machine that a simulation replaces. */
interface Machine {
  /** Without it the settings name the database. */
  openDatabase?(): Database;
  openBlobs(): BlobStore;
  /** Sends a delivery to its receiver. */
  postDelivery: PostDelivery;
  /** How the provisioner reaches its cluster; as on a real machine without it. */
  clusterAccess?: ClusterAccess;
  /** Sends requests to the identity provider; as on a real machine without it. */
  fetchFromProvider?: Fetch;
  /** Receives the requests in place of a port. Returns the URL of the server without a trailing slash. */
  listen(http: FastifyInstance): Promise<string>;
}

/** A server that accepts requests. */
export interface RunningServer {
  /** The address on which it listens, without a trailing slash. */
  url: string;
  /** The root token when this start created the first account, otherwise null. */
  firstStart: FirstStart | null;
  /** null for the role `server`. */
  runner: Runner | null;
  /** For tests, to wait for notifications and to read rows. */
  database: Database;
  /** Drains and closes: claims no more runs, lets running apps end within their grace period, then closes everything. */
  close(): Promise<void>;
}

interface Base {
  config: Config;
  clock: Clock;
  random: Random;
  log: Log;
  /** Steps of the shutdown, which runs them in the reverse order. */
  closers: (() => Promise<void>)[];
}

/**
 * A year, for this host alone. A server with a self-signed certificate sends none: on `localhost` it would close every
 * other server of the machine to the browser.
 */
const TRANSPORT_SECURITY = 'max-age=31536000';

/** Operations of a process with the role `worker`. */
const SERVICE_OPERATIONS: readonly OperationId[] = ['getHealth', 'getReadiness', 'getMetrics'];

/**
 * Starts the server and resolves once it listens. Throws ConfigError when a setting prevents the start; then it has closed
 * all that it opened.
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const closers: Base['closers'] = [];
  const base: Base = {
    config,
    clock: overrides.clock ?? systemClock,
    random: overrides.random ?? systemRandom,
    log: overrides.log ?? createLog(config.logLevel),
    closers,
  };
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return { ...(await start(base, overrides)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Names the address in the error of a server that cannot listen. */
function withAddress<T>({ host, port }: Config, work: () => Promise<T>): Promise<T> {
  return withSettingName(
    `SWITCHYARD_HOST is "${host}" and SWITCHYARD_PORT is ${port}, where the server cannot listen`,
    work,
  );
}

function createState({ publicUrl }: Config): ProcessState {
  return { publicUrl: publicUrl ?? '', ownUrl: '', listensLocally: false, notReadyReason: '' };
}

async function start(
  base: Base,
  { machine, ...overrides }: ServerOverrides,
): Promise<Omit<RunningServer, 'close'>> {
  const { config, log, closers } = base;
  // Before the start changes anything: a wrong pair or a port in use refuses it.
  const ownPair = config.tls?.kind === 'files' ? await openCertificates(config.tls, base) : null;
  if (!machine) await withAddress(config, () => checkAddress(config));
  const { folderId, sides } = await lockAndInspectDataFolder(config, closers, machine);
  const runner = await openRunner(base, overrides.launchesOnDemand === true);
  const storage = await openStorage(base, machine, { folderId, sides });
  const { database } = storage;
  const state = createState(config);
  const services = await createServices({
    ...{ ...base, ...storage, folderId, state },
    resolveHostname: overrides.resolveHostname ?? resolveName,
    postDelivery: machine?.postDelivery,
    clusterAccess: machine?.clusterAccess,
    fetchFromProvider: machine?.fetchFromProvider,
    resultsWorkerPool: overrides.resultsWorkerPool ?? new ResultsWorkerPool(),
  });
  closers.push(async () => services.shared.tracing?.close());
  const isWorker = config.role === 'worker';
  await prepareResultsFolder(services.remote.resultsFolder);
  const consoleFiles = overrides.console && !isWorker ? await loadConsole(overrides.console) : null;
  const handlers = createHandlers(createContext({ config, state, services, runner, consoleFiles }));
  if (!isWorker) {
    closers.push(() => services.leadership.stop());
    await services.leadership.start();
    services.leadership.addJobs(services.jobs.maintenance);
  }
  const listening = Promise.withResolvers<string>();
  const api = listening.promise.then((ownUrl) => findApiTarget(config, ownUrl));
  const { shared, runTokens } = services;
  if (runner) await startWorker(runner, { ...shared, config, folderId, log, closers, runTokens, api });

  const connectionsMax = computeConnectionsMax(readDescriptorLimit(), runner ? countSlots(config) : 0);
  const certificates = ownPair ?? (config.tls && (await openCertificates(config.tls, base)));
  closers.push(async () => certificates?.stop());
  const http = await createHttp(base, services, {
    handlers,
    connectionsMax,
    certificates,
    siteFolder: overrides.site,
    consoleFiles,
  });
  const url = await withAddress(config, () => machine?.listen(http) ?? listen(http, config));
  state.publicUrl ||= url;
  state.ownUrl = url;
  listening.resolve(url);
  state.listensLocally = http
    .addresses()
    .every((one) => typeof one === 'object' && isLoopbackAddress(one.address));
  closers.push(() => closeHttp(http));
  closers.push(async () => endWaitingRequests(services));
  if (!isWorker) services.leadership.addJobs(services.jobs.webhooks);
  // Nobody waits for it: the server serves keys while the provider is down.
  if (!isWorker) void services.singleSignOn?.checkProvider();
  closers.push(async () => {
    state.notReadyReason = 'The server is shutting down.';
    // Another server leads while this one ends its requests and runs.
    if (!isWorker) void services.leadership.stop();
  });
  const containment = runner?.host.containment ?? null;
  log.info(
    { url, role: config.role, database: database.kind, containment, connectionsMax },
    'Server listens',
  );
  return { url, firstStart: services.firstStart, runner, database };
}

/** Responds to the requests that wait for an event. Their callers send them again, to another server or to the next start. */
function endWaitingRequests({ openStreams, runWaits, remote }: Services): void {
  remote.workerSyncs.close();
  runWaits.close();
  openStreams.close();
}

/** Creates the folder for results of remote workers, without the files that a killed process left in it. */
async function prepareResultsFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Returns the server as the apps of this process reach it: this process, or for a worker the public address. */
function findApiTarget({ role, publicUrl }: Config, ownUrl: string): ApiTarget | null {
  if (role !== 'worker') return { url: ownUrl, isOwn: true };
  return publicUrl === null ? null : { url: publicUrl, isOwn: false };
}

/** Starts the launcher of apps; null for the role `server`, and for a capacity of 0. */
async function openRunner(
  { config, log, random, closers }: Base,
  launchesOnDemand: boolean,
): Promise<Runner | null> {
  // Runs then wait for remote workers.
  if (config.role === 'server' || countSlots(config) === 0) return null;
  const { containment } = config;
  const open = () =>
    startRunner({
      folder: join(config.data, 'runner'),
      launchesOnDemand,
      ...(containment ? { containment } : {}),
      randomBytes: (count) => random.bytes(count),
      onDiagnostic: (event) => log[event.level]({ event: event.event, run: event.runKey }, event.message),
    });
  const runner = containment
    ? await withSettingName(`SWITCHYARD_CONTAINMENT is "${containment}"`, open)
    : await open();
  closers.push(() => runner.close());
  return runner;
}

/** Opens and migrates the database, and opens the blobs of the same installation. */
async function openStorage(
  { config, clock, random, log, closers }: Base,
  machine: Machine | undefined,
  { folderId, sides }: { folderId: string; sides: InstallationState },
) {
  const cleanUpBlocker = await archiveDamagedLog(config, sides, clock, log);
  const open = async () => machine?.openDatabase?.() ?? openDatabase(config, log, migrations.length);
  const database = config.postgres
    ? await withSettingName('SWITCHYARD_DATABASE names a database that cannot be opened', open)
    : await open();
  closers.push(() => database.close());
  await migrate(database, migrations);
  const parts = { config, database, clock, random, log };
  // The real clock: a shared folder must agree with the time of this machine.
  const { identity, blobs } = await bindInstallation(
    parts,
    cleanUpBlocker,
    async () => machine?.openBlobs() ?? openBlobs(config, folderId, systemClock),
  );
  closers.push(() => identity.advanceGeneration());
  return { database, identity, blobs };
}

/** Creates the HTTP server with the operations of the role, the site and its search. */
async function createHttp(
  { config, clock, random, log }: Base,
  services: Services,
  options: {
    handlers: Handlers;
    connectionsMax: number;
    certificates: Certificates | null;
    siteFolder: string | undefined;
    consoleFiles: ConsoleFiles | null;
  },
) {
  const { handlers, connectionsMax, certificates, siteFolder, consoleFiles } = options;
  const { database, metrics, tracing } = services.shared;
  const isWorker = config.role === 'worker';
  const site = siteFolder && !isWorker ? await loadSite(siteFolder, config.site) : null;
  const { tokens, touchKey, singleSignOn, runTokens, endpoint } = services;
  const authenticateKey = createAuthenticator({ database, tokens, touchKey });
  const authenticateSession = createSessionAuthenticator({ database, clock, log });
  const authenticateRun = createRunAuthenticator({ database, runTokens, clock, rateLimit: config.rateLimit });
  const authenticateWorker = createWorkerAuthenticator({ database, clock, log });
  const authenticateToken = async ({ token, account, runProof }: TokenCredential) =>
    (await authenticateRun(token, runProof)) ??
    (await authenticateWorker(token)) ??
    (await authenticateKey(token)) ??
    (await singleSignOn?.authenticate(token, account)) ??
    null;
  const http = await createHttpServer({
    connectionsMax,
    ...(certificates ? { tls: certificates } : {}),
    ...(config.tls?.kind === 'files' ? { transportSecurity: TRANSPORT_SECURITY } : {}),
    errorPages: site && createErrorPages(site),
    handlers,
    servedOperations: isWorker ? SERVICE_OPERATIONS : null,
    authenticate: (credential) =>
      credential.kind === 'token' ? authenticateToken(credential) : authenticateSession(credential.secret),
    publicUrl: services.publicUrl,
    rateLimit: config.rateLimit,
    trustedProxies: config.trustedProxies,
    idempotency: services.idempotency,
    auditLog: new AuditRecorder({ database, clock, random }),
    newRequestId: createIdSequence(random, 'request'),
    endpoint,
    clock,
    log,
    metrics,
    requestSpans: tracing && new RequestSpans({ tracing, clock, random }),
  });
  if (consoleFiles) serveConsole(http, consoleFiles);
  if (!isWorker) await serveOpenApiDocuments(http);
  if (site) {
    serveSearch(http, {
      search: site.search,
      resultsPage: site.searchPage,
      clock,
      isRateLimited: config.rateLimit !== null,
    });
    serveSite(http, site, services.publicUrl);
  }
  return http;
}

function countSlots({ capacity }: Config): number {
  return Object.values(capacity.perClass).reduce((sum, slots) => sum + slots, capacity.shared);
}
