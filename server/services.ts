/** Creates every object that holds state and that requests, background jobs and the worker share. */

import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Runner } from '@switchyard/runner';
import { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import { createKeyTouch } from './accounts/account/authenticate.ts';
import { runFirstStart } from './accounts/account/first-start.ts';
import { Invites } from './accounts/account/invites.ts';
import { isLoopbackHost } from './accounts/account/sign-up.ts';
import { Tokens } from './accounts/account/tokens.ts';
import { DeviceCodes } from './accounts/device-authorizations/device-codes.ts';
import type { Fetch } from './accounts/sso/identity-provider.ts';
import { SingleSignOn } from './accounts/sso/single-sign-on.ts';
import { deleteIdentities } from './accounts/sso/store.ts';
import { CoreHourLimiter } from './accounts/usage/core-hours.ts';
import { AccountSemaphore } from './apps/applications/account-semaphore.ts';
import { deleteAccountApplications, findOwner } from './apps/applications/store.ts';
import { describeLock } from './apps/instances/instance-lock.ts';
import { findInstance, findInstanceUsingSecrets, findLockedInstance } from './apps/instances/store.ts';
import { withdrawAccount, withdrawApplication } from './apps/marketplace/withdraw.ts';
import { lockCollection } from './apps/secrets/store.ts';
import { Uploads } from './apps/uploads/uploads.ts';
import { createBackgroundJobs } from './background-jobs.ts';
import { joinBatch } from './experiments/batch/join-batch.ts';
import { startEnsemble } from './experiments/ensembles/start.ts';
import { PropertyReader } from './experiments/input-properties/property-reader.ts';
import { OnlineTestResults } from './experiments/online/online-test-results.ts';
import { OnlineTests } from './experiments/online/online-tests.ts';
import { QuestionMemory } from './experiments/questions/question-memory.ts';
import { ResultsCache } from './experiments/results/results-cache.ts';
import type { ResultsWorkerPool } from './experiments/results/results-worker-pool.ts';
import { ExperimentVerdicts } from './experiments/summaries/experiment-verdicts.ts';
import { AccountStreams } from './ops/account-streams/account-streams.ts';
import { describeVersionUse } from './ops/clean-up/version-use.ts';
import { findLastBackupTime } from './ops/health/backup-records.ts';
import { registerStateMetrics } from './ops/health/state-metrics.ts';
import { StorageProbe } from './ops/health/storage-probe.ts';
import { createMadeRevocation } from './ops/inventory/revoke-made.ts';
import { StorageMeter } from './ops/retention/storage-meter.ts';
import type { ConsoleFiles } from './ops/site/console.ts';
import { createAddressRules, type ResolveName } from './ops/webhooks/addresses.ts';
import type { PostDelivery } from './ops/webhooks/send.ts';
import { deleteAccountWebhooks } from './ops/webhooks/store.ts';
import type { BlobStore } from './platform/blobs/blob-store.ts';
import { Contents } from './platform/blobs/contents.ts';
import type { InstallationIdentity } from './platform/blobs/identity.ts';
import { blobsFolder } from './platform/blobs/open-blob-store.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database/database.ts';
import { Encryptor } from './platform/database/encryption.ts';
import type { Context } from './platform/http/handlers/context.ts';
import { Idempotency } from './platform/http/handlers/idempotency.ts';
import { createCompressedBodies } from './platform/http/lists/compressed-bodies.ts';
import { PageTokens } from './platform/http/lists/pagination.ts';
import {
  createMetrics,
  type Metrics,
  registerBackupMetric,
  registerLicenseMetrics,
  registerQueueMetrics,
} from './platform/http/metrics.ts';
import { RequestEndpoint } from './platform/http/requests/request-endpoint.ts';
import { UrlSigner } from './platform/http/requests/signed-url.ts';
import { OpenStreams } from './platform/http/streams/open-streams.ts';
import { Leadership, registerLeaderMetric } from './platform/jobs/leadership.ts';
import type { Log } from './platform/log.ts';
import { checkMasterKey, deriveKey, deriveTokenKey, loadOrCreateMasterKey } from './platform/master-key.ts';
import { makeId, type Random } from './platform/random.ts';
import { openTracing, type Tracing } from './platform/tracing/tracing.ts';
import { findLiveRun, RunTokens } from './runs/access/run-tokens.ts';
import { OpenCsvLists } from './runs/api/runs-csv.ts';
import { RunDeletion } from './runs/execute/cancel-and-delete.ts';
import { shareInput } from './runs/inputs/share-input.ts';
import { LogSearch } from './runs/log-search/log-search.ts';
import { LogPollLimiter } from './runs/logs/log-poll-limiter.ts';
import { registerProvisionerMetrics } from './runs/provisioner/count-jobs.ts';
import { type ClusterAccess, createProvisioner } from './runs/provisioner/create-provisioner.ts';
import { canProvision } from './runs/provisioner/expected-offer.ts';
import { countTokens } from './runs/queue/license-use.ts';
import { countQueuedByClass } from './runs/queue/queue-order.ts';
import { countRunningRuns } from './runs/queue/run-quota.ts';
import { AttemptFiles } from './runs/remote/attempt-files.ts';
import { AttemptEnds } from './runs/remote/end-attempt.ts';
import type { RemoteJobParts } from './runs/remote/remote-jobs.ts';
import { RemoteWorkers } from './runs/remote/remote-workers.ts';
import { WorkerSyncs } from './runs/remote/worker-syncs.ts';
import { ShareTokens } from './runs/shares/share-tokens.ts';
import { ShareViews } from './runs/shares/share-views.ts';
import { findRun } from './runs/store/runs.ts';
import { RunStreams } from './runs/streams/run-streams.ts';
import { RunWaits } from './runs/streams/run-waits.ts';
import { deletePrivateViews } from './runs/views/store.ts';
import { deleteAccountWorkerTokens, findWorkerToken } from './runs/workers/worker-tokens.ts';

/** State of this process that handlers read, and that its start and its shutdown change. */
export interface ProcessState {
  /** Address of the server without a trailing slash; empty until it listens, unless a setting names it. */
  publicUrl: string;
  /** The address on which this process listens; empty until it does. */
  ownUrl: string;
  /** true: the server listens only on loopback addresses. */
  listensLocally: boolean;
  /** The reason why the server is not ready; empty while it is. */
  notReadyReason: string;
}

interface ServicesParts {
  config: Config;
  clock: Clock;
  random: Random;
  log: Log;
  database: Database;
  blobs: BlobStore;
  identity: InstallationIdentity;
  /** Id of the data folder, which is unique among all machines. */
  folderId: string;
  state: ProcessState;
  resolveHostname: ResolveName;
  /** Absent on a real machine. */
  postDelivery: PostDelivery | undefined;
  /** Absent on a real machine. */
  clusterAccess: ClusterAccess | undefined;
  /** Absent on a real machine. */
  fetchFromProvider: Fetch | undefined;
  resultsWorkerPool: ResultsWorkerPool;
}

/** The objects that handlers, background jobs and the worker share. */
export type Services = Awaited<ReturnType<typeof createServices>>;

/** Creates the services and the background jobs, none of which runs yet. Creates the first account on an empty database. */
export async function createServices(parts: ServicesParts) {
  const { config, clock, random, log, database, blobs, identity, state, resultsWorkerPool } = parts;
  const masterKey = await loadOrCreateMasterKey(config.data, config.masterKey, random);
  await checkMasterKey(database, masterKey);
  const metrics = createMetrics();
  registerStoredMetrics(metrics, parts);
  const tracing = await openCountedTracing(metrics, parts);
  const contents = new Contents({
    ...{ database, blobs, clock, random },
    onDamage: ({ key, damage, message }) => {
      metrics.damagedBlobs.inc({ damage });
      log.error({ blob: key, damage }, message);
    },
  });
  const publicUrl = (): string => state.publicUrl;
  const isLocal = (): boolean => state.listensLocally && isLoopbackHost(new URL(state.publicUrl).hostname);
  const endpoint = new RequestEndpoint();
  const signer = new UrlSigner({
    ...{ key: deriveKey(masterKey, 'urls'), clock },
    publicUrl: () => endpoint.current ?? state.publicUrl,
  });
  const runTokens = new RunTokens(deriveKey(masterKey, 'run-tokens'));
  const pageTokens = new PageTokens(new Encryptor(deriveKey(masterKey, 'pages'), random));
  const tokens = new Tokens(deriveTokenKey(masterKey), clock);
  const touchKey = createKeyTouch({ database, clock, log });
  const singleSignOn =
    config.sso &&
    new SingleSignOn({
      ...{ ...parts, settings: config.sso, key: deriveKey(masterKey, 'sign-ons') },
      ...{ touchKey, publicUrl, revokeMade: createMadeRevocation({ clock }) },
    });
  const firstStart = await runFirstStart({ database, tokens, clock, random, dataFolder: config.data });
  const uploads = new Uploads({ database, contents, identity, signer, clock, random });
  const seal = new Encryptor(deriveKey(masterKey, 'secrets'), random);
  const jsonReader = new JsonReader();
  const propertyReader = new PropertyReader({ contents });
  const shared = {
    ...{ database, seal, contents, uploads, pageTokens, clock, random, log, metrics, tracing },
    ...{ jsonReader, resultsWorkerPool, propertyReader, questionMemory: new QuestionMemory(parts) },
  };
  const onlineTestResults = new OnlineTestResults(shared);
  const onlineTests = new OnlineTests({ ...shared, log, results: onlineTestResults });
  const idempotency = new Idempotency({ database, clock, random, key: deriveKey(masterKey, 'answers') });
  const addressRuleFor = createAddressRules(config.webhookNetworks, isLocal);
  const jobs = createBackgroundJobs({
    ...shared,
    ...{ log, idempotency, onlineTests, addressRuleFor, publicUrl },
    problemThresholds: config.problemThresholds,
    provisioner:
      config.provisioner &&
      createProvisioner(config.provisioner, { ...parts, key: deriveKey(masterKey, 'worker-tokens') }),
    ...{ resolve: parts.resolveHostname, post: parts.postDelivery },
  });
  const leadership = createLeadership(parts);
  registerLeaderMetric(metrics.registry, leadership);
  const openStreams = new OpenStreams(clock);
  const runStreams = new RunStreams({ database, clock, log, openStreams });
  const runWaits = new RunWaits({ database, clock, log });
  return {
    ...{ openStreams, runStreams, runWaits },
    remote: createRemoteServices({ ...shared, runTokens, log }, config.data),
    accountStreams: new AccountStreams({ database, clock, log, openStreams }),
    ...{ shared, firstStart, tokens, signer, idempotency, onlineTests, onlineTestResults, addressRuleFor },
    ...{ jobs, leadership, publicUrl, isLocal, singleSignOn, touchKey, endpoint, runTokens },
    invites: new Invites(deriveKey(masterKey, 'invites'), clock),
    deviceCodes: new DeviceCodes(deriveKey(masterKey, 'device-codes'), random),
    shareTokens: new ShareTokens(deriveKey(masterKey, 'shares')),
    shareViews: new ShareViews({ database, clock, random }),
  };
}

/** Registers the metrics that a scrape reads from the database. */
function registerStoredMetrics(metrics: Metrics, { config, clock, database }: ServicesParts): void {
  const { read: db } = database;
  registerQueueMetrics(metrics, { clock, read: () => countQueuedByClass(db) });
  registerLicenseMetrics(metrics, { clock, read: () => countTokens(db) });
  if (config.provisioner) registerProvisionerMetrics(metrics, { clock, db });
  registerStateMetrics(metrics, { clock, db });
  registerBackupMetric(metrics, { clock, read: () => findLastBackupTime(db) });
}

function openCountedTracing(
  metrics: Metrics,
  { config, clock, log }: ServicesParts,
): Promise<Tracing | null> {
  const onExport = (spans: number, result: 'exported' | 'failed'): void =>
    metrics.spans.inc({ result }, spans);
  return openTracing(config.tracing, { clock, log, onExport });
}

/** Creates the services of the protocol with remote workers. */
function createRemoteServices(
  parts: RemoteJobParts & ConstructorParameters<typeof RemoteWorkers>[0],
  dataFolder: string,
) {
  const resultsFolder = join(dataFolder, 'remote-results');
  return {
    workerSyncs: new WorkerSyncs(parts),
    attemptEnds: new AttemptEnds({ ...parts, resultsFolder }),
    attemptFiles: new AttemptFiles(parts),
    remoteWorkers: new RemoteWorkers(parts),
    resultsFolder,
  };
}

function createLeadership({ database, clock, log, random, folderId }: ServicesParts): Leadership {
  const name = `${hostname()}, process ${process.pid}`;
  return new Leadership({
    ...{ database, clock, log },
    holder: { id: makeId(random, 'server'), folderId, name },
  });
}

interface ContextParts {
  config: Config;
  state: ProcessState;
  services: Services;
  runner: Runner | null;
  /** The built console; null without one. */
  consoleFiles: ConsoleFiles | null;
}

/** Returns the function that deletes the resources of an account. */
function createOwnedDeletion(shared: Services['shared']): Context['deleteOwned'] {
  return async (tx, account, at) => {
    await deleteAccountApplications(tx, account, at);
    await withdrawAccount(tx, shared, account);
    await deleteAccountWebhooks(tx, account);
    await deleteAccountWorkerTokens(tx, account);
    await deleteIdentities(tx, account);
  };
}

/** Creates the context of the handlers. It connects slices that must not import each other. */
export function createContext({ config, state, services, runner, consoleFiles }: ContextParts): Context {
  const { shared } = services;
  const { database, clock } = shared;
  const folders = config.s3 ? [config.data] : [config.data, blobsFolder(config)];
  return {
    ...shared,
    provisionerSettings: config.provisioner,
    canProvision: (demand) => canProvision(config.provisioner, demand),
    host: runner?.host ?? null,
    consoleFiles,
    onApplicationDeleted: () => database.notify('applications-deleted'),
    ...{ tokens: services.tokens, invites: services.invites, deviceCodes: services.deviceCodes },
    ...{ shareTokens: services.shareTokens, shareViews: services.shareViews },
    publicUrl: services.publicUrl,
    singleSignOn: services.singleSignOn,
    signUp: { mode: config.signUp, isLocal: services.isLocal },
    deleteOwned: createOwnedDeletion(shared),
    signer: services.signer,
    archiveInspections: new AccountSemaphore(),
    findApplicationOwner: findOwner,
    findRunCaller: async (id, proof) => {
      const run = await findLiveRun(database.read, id, clock.now());
      if (!run || services.runTokens.verifyProof(proof, run) === null) return null;
      return { account: run.account_id, owner: run.owner };
    },
    storage: new StorageProbe({ database, folders, clock }),
    notReadyReason: () => state.notReadyReason,
    leadership: services.leadership,
    coreHourLimiter: new CoreHourLimiter(shared),
    countRunningRuns,
    deletePrivateViews,
    revokeMade: createMadeRevocation(shared),
    describeVersionUse,
    addressRuleFor: services.addressRuleFor,
    onWebhookDeleted: () => database.notify('webhooks-deleted'),
    findInstanceUsingSecrets,
    lockSecretsCollection: (tx, applicationUid, id) =>
      lockCollection(tx, { applicationUid, id, change: false }),
    withdrawApplication: (tx, application) => withdrawApplication(tx, shared, application),
    describeLockedInstance: async (uid, tx) => {
      const instance = await findLockedInstance(tx, uid);
      return instance ? describeLock(instance) : null;
    },
    hasWorkerToken: async (tx, id) => (await findWorkerToken(tx, id)) !== undefined,
    hasInstance: async (uid, id, tx) => (await findInstance(tx, uid, id)) !== undefined,
    hasRun: async (uid, id, tx) => (await findRun(tx, uid, id)) !== undefined,
    useInput: async (applicationUid, id) => {
      const { content, format } = await shareInput(shared, applicationUid, id);
      return { id, content, format: format.input.type };
    },
    startEnsemble: (request, store) => startEnsemble({ ...shared, store }, request),
    joinBatch: (application, id) => joinBatch(database.read, application, id),
    logPollLimiter: new LogPollLimiter(clock, config.rateLimit),
    openCsvLists: new OpenCsvLists(),
    logSearch: new LogSearch(shared),
    ...{ runStreams: services.runStreams, runWaits: services.runWaits },
    ...services.remote,
    runTokens: services.runTokens,
    accountStreams: services.accountStreams,
    runDeletion: new RunDeletion(shared),
    ...{ onlineTests: services.onlineTests, onlineTestResults: services.onlineTestResults },
    batchResultsCache: new ResultsCache(),
    experimentVerdicts: new ExperimentVerdicts(shared),
    compressedBodies: createCompressedBodies(),
    onOnlineTestChanged: () => database.notify('online-tests-changed'),
    storageMeter: new StorageMeter(shared),
    onRetentionChanged: () => database.notify('retention-changed'),
    onExperimentDeleted: () => database.notify('experiments-deleted'),
  };
}
