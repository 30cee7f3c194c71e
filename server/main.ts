/**
 * Puts the server together; process.ts runs it. This module creates every object that holds state, once, and passes it to
 * its users. The exceptions are caches in modules, which `checks/baselines/module-state.json` lists. The launcher of apps is started first, while this process
 * is small: starting a process costs in proportion to the memory of the one that does.
 */
import { join } from 'node:path';
import type { OperationId } from '@switchyard/contract/operations.ts';
import { type Runner, startRunner } from '@switchyard/runner';
import { createAuthenticator } from './account/authenticate.ts';
import { type FirstStart, runFirstStart } from './account/first-start.ts';
import { Invites } from './account/invites.ts';
import { checkMasterKey, deriveKey, deriveTokenKey, loadOrCreateMasterKey } from './account/master-key.ts';
import * as memberOperations from './account/members.ts';
import * as ownAccountOperations from './account/own-account.ts';
import * as serverAccountOperations from './account/server-accounts.ts';
import { isLoopbackAddress, isLoopbackHost } from './account/sign-up.ts';
import { Tokens } from './account/tokens.ts';
import { AccountSemaphore } from './applications/account-semaphore.ts';
import * as executableOperations from './applications/executable-operations.ts';
import * as applicationOperations from './applications/operations.ts';
import { deleteAccountApplications, findOwner } from './applications/store.ts';
import * as auditOperations from './audit/operations.ts';
import { AuditRecorder } from './audit/recorder.ts';
import { createBackgroundJobs } from './background-jobs.ts';
import { Contents } from './blobs/contents.ts';
import { blobsFolder, openBlobs } from './blobs/open-blob-store.ts';
import { describeVersionUse } from './clean-up/version-use.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { Encryptor } from './database/encryption.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open.ts';
import * as ensembleOperations from './ensembles/operations.ts';
import { startEnsemble } from './ensembles/start.ts';
import * as acceptanceOperations from './experiments/acceptance/acceptance-operations.ts';
import * as batchOperations from './experiments/batch/batch-operations.ts';
import { joinBatch } from './experiments/batch/join-batch.ts';
import { OnlineTestResults } from './experiments/online/online-test-results.ts';
import { OnlineTests } from './experiments/online/online-tests.ts';
import * as shadowTestOperations from './experiments/online/shadow-operations.ts';
import * as switchbackTestOperations from './experiments/online/switchback-operations.ts';
import { ResultsCache } from './experiments/results/results-worker-pool.ts';
import * as healthOperations from './health/operations.ts';
import { StorageProbe } from './health/storage-probe.ts';
import type { Context } from './http/handlers/context.ts';
import { bindHandlers, type Handlers } from './http/handlers/handler.ts';
import { Idempotency } from './http/handlers/idempotency.ts';
import { computeConnectionsMax, readDescriptorLimit } from './http/limits/connections.ts';
import { closeHttp, listen } from './http/listen.ts';
import { PageTokens } from './http/lists/pagination.ts';
import { createMetrics, registerQueueMetrics } from './http/metrics.ts';
import { UrlSigner } from './http/requests/signed-url.ts';
import { createHttpServer } from './http/server.ts';
import * as inputSetOperations from './input-sets/operations.ts';
import * as inputOperations from './inputs/operations.ts';
import { shareInput } from './inputs/share-input.ts';
import { withSettingName } from './installation/setting-errors.ts';
import { archiveDamagedLog, bindInstallation, lockAndInspectDataFolder } from './installation/start.ts';
import * as instanceOperations from './instances/operations.ts';
import { findInstance, findInstanceUsingSecrets } from './instances/store.ts';
import type { Job } from './jobs/define-job.ts';
import { createLog, type Log } from './log.ts';
import { migrations } from './migrations.ts';
import { createIdSequence, type Random, systemRandom } from './random.ts';
import * as runOperations from './runs/api/operations.ts';
import * as queueOperations from './runs/api/queue-operations.ts';
import { RunDeletion } from './runs/execute/cancel-and-delete.ts';
import { startWorker } from './runs/execute/start-worker.ts';
import { LogPollLimiter } from './runs/logs/log-poll-limiter.ts';
import { countQueuedByClass } from './runs/queue/queue-order.ts';
import { JsonReader } from './runs/results/json-reader.ts';
import { serveSearch } from './search/search.ts';
import * as secretsOperations from './secrets/operations.ts';
import { lockCollection } from './secrets/store.ts';
import { serveOpenApiDocuments } from './site/openapi-documents.ts';
import { createErrorPages, loadSite, serveSite } from './site/site.ts';
import * as uploadOperations from './uploads/operations.ts';
import { Uploads } from './uploads/uploads.ts';
import * as versionOperations from './versions/operations.ts';
import { createAddressRules, type ResolveName, resolveName } from './webhooks/addresses.ts';
import * as deliveryOperations from './webhooks/delivery-operations.ts';
import * as webhookOperations from './webhooks/operations.ts';
import { deleteAccountWebhooks } from './webhooks/store.ts';

/** Seams a test can drive. */
export interface ServerOverrides {
  clock?: Clock;
  random?: Random;
  log?: Log;
  /** How the names of receivers of webhooks are looked up. */
  resolveHostname?: ResolveName;
  /** The folder of the built site; absent: no site is served. */
  site?: string;
}

export interface RunningServer {
  /** Where it listens, without a trailing slash. */
  url: string;
  firstStart: FirstStart | null;
  runner: Runner | null;
  /** For tests: to wait for news, and to look at what was kept. */
  database: Database;
  /** Drains: nothing new is claimed, running apps get their grace, then everything is closed. */
  close(): Promise<void>;
}

const SERVICE: readonly OperationId[] = ['getHealth', 'getReadiness', 'getMetrics'];

export async function startServer(config: Config, seams: ServerOverrides = {}): Promise<RunningServer> {
  const clock = seams.clock ?? systemClock;
  const random = seams.random ?? systemRandom;
  const log = seams.log ?? createLog(config.logLevel);
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  try {
    return await start();
  } catch (error) {
    await close();
    throw error;
  }

  async function start(): Promise<RunningServer> {
    const { folderId, sides } = await lockAndInspectDataFolder(config, closers);
    const runner =
      config.role === 'server'
        ? null
        : config.containment
          ? await withSettingName(`SWITCHYARD_CONTAINMENT is "${config.containment}"`, () =>
              openRunner(config, log, random),
            )
          : await openRunner(config, log, random);
    if (runner) closers.push(() => runner.close());

    const damage = archiveDamagedLog(config, sides, clock, log);
    const database = config.postgres
      ? await withSettingName('SWITCHYARD_DATABASE names a database that cannot be opened', () =>
          openDatabase(config, log),
        )
      : await openDatabase(config, log);
    closers.push(() => database.close());
    await migrate(database, migrations);
    const bound = { config, database, clock, random, log };
    const { identity, blobs } = await bindInstallation(bound, sides, damage, () =>
      openBlobs(config, folderId, systemClock),
    );
    closers.push(() => identity.advanceGeneration());
    const masterKey = await loadOrCreateMasterKey(config.data, config.masterKey, random);
    await checkMasterKey(database, masterKey);
    const metrics = createMetrics();
    registerQueueMetrics(metrics, { clock, read: () => countQueuedByClass(database.read) });
    const contents = new Contents({
      ...{ database, blobs, clock, random },
      onDamage: ({ key, damage, message }) => {
        metrics.damagedBlobs.inc({ damage });
        log.error({ blob: key, damage }, message);
      },
    });
    let publicUrl = config.publicUrl ?? '';
    const signer = new UrlSigner({ key: deriveKey(masterKey, 'urls'), clock, publicUrl: () => publicUrl });
    const pageTokens = new PageTokens(deriveKey(masterKey, 'pages'));
    const tokens = new Tokens(deriveTokenKey(masterKey), clock);
    const first = await runFirstStart({ database, tokens, clock, random, dataFolder: config.data });
    const uploads = new Uploads({ database, contents, identity, signer, clock, random });

    let closing = '';
    let listensLocally = false;
    const isLocal = (): boolean => listensLocally && isLoopbackHost(new URL(publicUrl).hostname);
    const seal = new Encryptor(deriveKey(masterKey, 'secrets'), random);
    const jsonReader = new JsonReader();
    const shared = { database, seal, contents, uploads, pageTokens, clock, random, metrics, jsonReader };
    const folders = config.s3 ? [config.data] : [config.data, blobsFolder(config)];
    const storage = new StorageProbe({ database, folders, clock });
    const findings = new OnlineTestResults(shared);
    const live = new OnlineTests({ ...shared, log, findings });
    const idempotency = new Idempotency({ database, clock, random, key: deriveKey(masterKey, 'answers') });
    const addressRuleFor = createAddressRules(config.webhookNetworks, isLocal);
    const jobs = createBackgroundJobs({
      ...shared,
      log,
      idempotency,
      onlineTests: live,
      addressRuleFor,
      resolve: seams.resolveHostname ?? resolveName,
    });
    const context: Context = {
      ...shared,
      host: runner?.host ?? null,
      onApplicationDeleted: () => jobs.removeDeletedApplications.wake(),
      tokens,
      invites: new Invites(deriveKey(masterKey, 'invites'), clock),
      publicUrl: () => publicUrl,
      signUp: { mode: config.signUp, isLocal },
      deleteOwned: async (tx, account, at) => {
        await deleteAccountApplications(tx, account, at);
        await deleteAccountWebhooks(tx, account);
      },
      signer,
      archiveInspections: new AccountSemaphore(),
      findApplicationOwner: findOwner,
      storage,
      notReadyReason: () => closing,
      describeVersionUse,
      addressRuleFor,
      onWebhookDeleted: () => jobs.removeDeletedWebhooks.wake(),
      findInstanceUsingSecrets,
      lockSecretsCollection: (tx, applicationUid, id) =>
        lockCollection(tx, { applicationUid, id, change: false }),
      hasInstance: async (uid, id, tx) => (await findInstance(tx, uid, id)) !== undefined,
      useInput: async (applicationUid, id) => {
        const { content, format } = await shareInput(shared, applicationUid, id);
        return { id, content, format: format.input.type };
      },
      startEnsemble: (request, store) => startEnsemble({ ...shared, store }, request),
      joinBatch: (application, id) => joinBatch(database.read, application, id),
      logPollLimiter: new LogPollLimiter(clock, config.rateLimit),
      runDeletion: new RunDeletion(shared),
      onlineTests: live,
      onlineTestResults: findings,
      batchResultsCache: new ResultsCache(),
      onOnlineTestChanged: () => jobs.advanceOnlineTests.wake(),
      onExperimentDeleted: () => jobs.removeDeletedExperiments.wake(),
    };
    const handlers: Handlers = {
      ...bindHandlers(context, ownAccountOperations),
      ...bindHandlers(context, memberOperations),
      ...bindHandlers(context, serverAccountOperations),
      ...bindHandlers(context, auditOperations),
      ...bindHandlers(context, applicationOperations),
      ...bindHandlers(context, executableOperations),
      ...bindHandlers(context, versionOperations),
      ...bindHandlers(context, instanceOperations),
      ...bindHandlers(context, secretsOperations),
      ...bindHandlers(context, uploadOperations),
      ...bindHandlers(context, runOperations),
      ...bindHandlers(context, queueOperations),
      ...bindHandlers(context, inputOperations),
      ...bindHandlers(context, inputSetOperations),
      ...bindHandlers(context, ensembleOperations),
      ...bindHandlers(context, shadowTestOperations),
      ...bindHandlers(context, switchbackTestOperations),
      ...bindHandlers(context, batchOperations),
      ...bindHandlers(context, acceptanceOperations),
      ...bindHandlers(context, webhookOperations),
      ...bindHandlers(context, deliveryOperations),
      ...bindHandlers(context, healthOperations),
    };

    startJobs(jobs.maintenance, closers);
    if (runner) await startWorker(runner, { ...shared, config, folderId, log, closers });

    const site = seams.site && config.role !== 'worker' ? await loadSite(seams.site, config.site) : null;
    const connectionsMax = computeConnectionsMax(
      readDescriptorLimit(),
      runner
        ? config.capacity.shared + Object.values(config.capacity.perClass).reduce((sum, one) => sum + one, 0)
        : 0,
    );
    const http = await createHttpServer({
      connectionsMax,
      errorPages: site && createErrorPages(site),
      handlers,
      servedOperations: config.role === 'worker' ? SERVICE : null,
      authenticate: createAuthenticator({ database, tokens, clock, log }),
      rateLimit: config.rateLimit,
      idempotency,
      auditLog: new AuditRecorder({ database, clock, random }),
      newRequestId: createIdSequence(random, 'request'),
      clock,
      log,
      metrics,
    });
    if (config.role !== 'worker') await serveOpenApiDocuments(http);
    if (site) {
      serveSearch(http, {
        search: site.search,
        resultsPage: site.searchPage,
        clock,
        isRateLimited: config.rateLimit !== null,
      });
      serveSite(http, site, () => publicUrl);
    }
    const where = `SWITCHYARD_HOST is "${config.host}" and SWITCHYARD_PORT is ${config.port}`;
    const url = await withSettingName(`${where}, where the server cannot listen`, () => listen(http, config));
    publicUrl ||= url;
    listensLocally = http
      .addresses()
      .every((one) => typeof one === 'object' && isLoopbackAddress(one.address));
    closers.push(() => closeHttp(http));
    if (config.role !== 'worker') startJobs(jobs.webhooks, closers);
    closers.push(async () => {
      closing = 'The server is shutting down.';
    });
    log.info(
      {
        url,
        role: config.role,
        database: database.kind,
        containment: runner?.host.containment ?? null,
        connectionsMax,
      },
      'The server listens.',
    );
    return { url, firstStart: first, runner, database, close };
  }
}

function startJobs(jobs: readonly Job[], closers: (() => Promise<void>)[]): void {
  for (const job of jobs) {
    job.start();
    closers.push(() => job.stop());
  }
}

function openRunner(config: Config, log: Log, random: Random): Promise<Runner> {
  return startRunner({
    folder: join(config.data, 'runner'),
    ...(config.containment ? { containment: config.containment } : {}),
    randomBytes: (count) => random.bytes(count),
    onDiagnostic: (event) => log[event.level]({ event: event.event, run: event.runKey }, event.message),
  });
}
