/**
 * Puts the server together and runs it. Everything that holds state is made here, once, in the order it depends on each
 * other, and is handed down; nothing else makes its own. The launcher of apps is started first, while this process is
 * small: starting a process costs in proportion to the memory of the one that does.
 */
import { join } from 'node:path';
import type { OperationId } from '@switchyard/contract/operations.ts';
import { type Runner, startRunner } from '@switchyard/runner';
import { accountsHandlers } from './account/accounts.ts';
import { createAuthenticate } from './account/authenticate.ts';
import { type FirstStart, firstStart } from './account/first-start.ts';
import { Invites } from './account/invites.ts';
import { checkMasterKey, deriveKey, loadMasterKey, tokenKey } from './account/master-key.ts';
import { memberHandlers } from './account/members.ts';
import { accountHandlers } from './account/operations.ts';
import { isLoopbackAddress, isLoopbackHost } from './account/sign-up.ts';
import { Tokens } from './account/tokens.ts';
import { applicationCleaner } from './api/clean-up.ts';
import { serveDocuments } from './api/documents.ts';
import { migrations } from './api/migrations.ts';
import { executableCleaner } from './api/remove-executables.ts';
import { serveSearch } from './api/search.ts';
import { serviceHandlers } from './api/service.ts';
import { errorPagesOf, loadSite, serveSite } from './api/site.ts';
import { StorageProbe } from './api/storage-probe.ts';
import { versionUse } from './api/version-use.ts';
import { applicationHandlers } from './applications/operations.ts';
import { deleteApplicationsOf, findOwner } from './applications/store.ts';
import { chainer } from './audit/chain.ts';
import { auditHandlers } from './audit/operations.ts';
import { Recorder } from './audit/record.ts';
import { Contents } from './blobs/contents.ts';
import { blobsFolder, openBlobs } from './blobs/open.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { Database } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open.ts';
import { Seal } from './database/seal.ts';
import { advancer } from './ensembles/advance.ts';
import { ensembleHandlers } from './ensembles/operations.ts';
import { startEnsemble } from './ensembles/start.ts';
import { acceptanceHandlers } from './experiments/acceptance.ts';
import { acceptanceDecider } from './experiments/acceptance-decide.ts';
import { batchAdvancer } from './experiments/advance.ts';
import { batchHandlers } from './experiments/batches.ts';
import { joinBatch } from './experiments/join.ts';
import { LiveTests } from './experiments/live.ts';
import { LiveFindings } from './experiments/live-findings.ts';
import { experimentRemover } from './experiments/removals.ts';
import { shadowTestHandlers } from './experiments/shadow-tests.ts';
import { switchbackTestHandlers } from './experiments/switchback-tests.ts';
import { connectionsFor, descriptorLimit } from './http/connections.ts';
import type { Handlers } from './http/handler.ts';
import { Idempotency } from './http/idempotency.ts';
import { closeHttp, listen } from './http/listen.ts';
import { createMetrics, measureQueue } from './http/metrics.ts';
import { PageTokens } from './http/paging.ts';
import { createHttp } from './http/server.ts';
import { UrlSigner } from './http/signed-url.ts';
import { inputSetHandlers } from './input-sets/operations.ts';
import { inputHandlers } from './inputs/operations.ts';
import { useInput } from './inputs/use.ts';
import { naming } from './installation/naming.ts';
import { bindInstallation, enterDataFolder, keepDamagedLog } from './installation/start.ts';
import { instanceHandlers } from './instances/operations.ts';
import { findInstance, findInstanceOfSecrets } from './instances/store.ts';
import { createLog, type Log, messageOf } from './log.ts';
import { numberedIds, type Random, systemRandom } from './random.ts';
import { births } from './runs/births.ts';
import { runHandlers } from './runs/operations.ts';
import { queueHandlers } from './runs/queue.ts';
import { forgetter, rescuer } from './runs/rescue.ts';
import { countQueue } from './runs/turns.ts';
import { startWork } from './runs/work.ts';
import { secretsHandlers } from './secrets/operations.ts';
import { holdCollection } from './secrets/store.ts';
import { Uploads } from './uploads/uploads.ts';
import { versionHandlers } from './versions/operations.ts';
import { type Resolve, resolveName } from './webhooks/addresses.ts';
import { deleteWebhooksOf } from './webhooks/store.ts';
import { openWebhooks } from './webhooks/webhooks.ts';

/** Seams a test can drive. */
export interface Seams {
  clock?: Clock;
  random?: Random;
  log?: Log;
  /** How the names of receivers of webhooks are looked up. */
  resolve?: Resolve;
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

export async function startServer(config: Config, seams: Seams = {}): Promise<RunningServer> {
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
    const { folderId, sides } = await enterDataFolder(config, closers);
    const runner =
      config.role === 'server'
        ? null
        : config.containment
          ? await naming(`SWITCHYARD_CONTAINMENT is "${config.containment}"`, () => openRunner(config, log))
          : await openRunner(config, log);
    if (runner) closers.push(() => runner.close());

    const damage = keepDamagedLog(config, sides, clock, log);
    const opened = config.postgres
      ? await naming('SWITCHYARD_DATABASE names a database that cannot be opened', () =>
          openDatabase(config, log),
        )
      : await openDatabase(config, log);
    closers.push(() => opened.close());
    const acts = new Recorder({ opened, clock, random, log });
    const { database } = acts;
    await migrate(database, migrations);
    const bound = { config, database, clock, random, log };
    const { identity, blobs } = await bindInstallation(bound, sides, damage, () =>
      openBlobs(config, folderId, systemClock),
    );
    closers.push(() => identity.advance());
    const masterKey = await loadMasterKey(config.data, config.masterKey, random);
    await checkMasterKey(database, masterKey);
    const metrics = createMetrics();
    measureQueue(metrics, { clock, read: () => countQueue(database.read) });
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
    const tokens = new Tokens(tokenKey(masterKey), clock);
    const first = await firstStart({ database, tokens, clock, random, dataFolder: config.data });
    const uploads = new Uploads({ database, contents, identity, signer, clock, random, log, findOwner });

    const cleaner = applicationCleaner({ database, contents, clock, log });
    const removedExperiments = experimentRemover({ database, contents, clock, log });
    let closing = '';
    let listensLocally = false;
    const isLocal = (): boolean => listensLocally && isLoopbackHost(new URL(publicUrl).hostname);
    const seal = new Seal(deriveKey(masterKey, 'secrets'), random);
    const shared = { database, seal, contents, uploads, pageTokens, clock, random, metrics };
    const folders = config.s3 ? [config.data] : [config.data, blobsFolder(config)];
    const storage = new StorageProbe({ database, folders, clock });
    const findings = new LiveFindings(shared);
    const live = new LiveTests({ ...shared, log, findings });
    const liveMover = live.mover();
    const liveParts = {
      ...shared,
      live,
      findings,
      onMoved: () => liveMover.poke(),
      onDeleted: () => removedExperiments.poke(),
    };
    const webhooks = openWebhooks({
      ...shared,
      log,
      networks: config.webhookNetworks,
      isLocal,
      resolve: seams.resolve ?? resolveName,
    });
    const handlers: Handlers = {
      ...accountHandlers({ ...shared, tokens }),
      ...memberHandlers({
        ...shared,
        tokens,
        invites: new Invites(deriveKey(masterKey, 'invites'), clock),
        publicUrl: () => publicUrl,
      }),
      ...accountsHandlers({
        ...shared,
        tokens,
        signUp: {
          mode: config.signUp,
          isLocal,
        },
        deleteOwned: async (tx, account, at) => {
          await deleteApplicationsOf(tx, account, at);
          await deleteWebhooksOf(tx, account);
        },
        onDeleted: () => cleaner.poke(),
      }),
      ...auditHandlers(shared),
      ...applicationHandlers({
        ...shared,
        host: runner?.host ?? null,
        onDeleted: () => cleaner.poke(),
        hasInstance: async (uid, id, tx) => (await findInstance(tx, uid, id)) !== undefined,
      }),
      ...versionHandlers({ ...shared, useOf: versionUse }),
      ...instanceHandlers({
        ...shared,
        holdSecrets: (tx, applicationUid, id) => holdCollection(tx, { applicationUid, id, change: false }),
      }),
      ...secretsHandlers({ ...shared, findUser: findInstanceOfSecrets }),
      ...uploads.handlers(),
      ...runHandlers({
        ...shared,
        keyRate: config.rateLimit,
        useInput: async (applicationUid, id) => {
          const { content, format } = await useInput(shared, applicationUid, id);
          return { id, content, format: format.input.type };
        },
        startEnsemble: (asked) => startEnsemble(shared, asked),
        joinBatch: (application, id) => joinBatch(database, application, id),
      }),
      ...queueHandlers(shared),
      ...inputHandlers(shared),
      ...inputSetHandlers(shared),
      ...ensembleHandlers(shared),
      ...shadowTestHandlers(liveParts),
      ...switchbackTestHandlers(liveParts),
      ...batchHandlers({ ...shared, onDeleted: () => removedExperiments.poke() }),
      ...acceptanceHandlers({ ...shared, onDeleted: () => removedExperiments.poke() }),
      ...webhooks.handlers,
      ...serviceHandlers({ storage, metrics, host: runner?.host ?? null, closing: () => closing }),
    };

    const idempotency = new Idempotency({
      database,
      clock,
      random,
      key: deriveKey(masterKey, 'answers'),
      log,
    });
    const reconcilers = [
      idempotency.cleaner(),
      chainer({ database, clock, log }),
      uploads.cleaner(),
      cleaner,
      executableCleaner({ database, contents, clock, log }),
      births({ ...shared, log }),
      advancer({ ...shared, log }),
      batchAdvancer({ database, contents, clock, log }),
      removedExperiments,
      liveMover,
      live.settler(),
      acceptanceDecider({ database, clock, log }),
      rescuer({ database, clock, log, metrics }),
      forgetter({ database, clock, log, metrics }),
    ];
    startAll(reconcilers, closers);
    if (runner) await startWork(runner, { ...shared, config, folderId, log, closers });

    const site = seams.site && config.role !== 'worker' ? await loadSite(seams.site, config.site) : null;
    const connectionsMax = connectionsFor(
      descriptorLimit(),
      runner
        ? config.capacity.shared + Object.values(config.capacity.own).reduce((sum, one) => sum + one, 0)
        : 0,
    );
    const http = await createHttp({
      connectionsMax,
      errorPages: site && errorPagesOf(site),
      handlers,
      only: config.role === 'worker' ? SERVICE : null,
      authenticate: createAuthenticate({ database, tokens, clock, log }),
      rateLimit: config.rateLimit,
      idempotency,
      acts,
      requestId: numberedIds(random, 'request'),
      clock,
      log,
      metrics,
    });
    if (config.role !== 'worker') await serveDocuments(http);
    if (site) {
      serveSearch(http, { ...site, clock, limited: config.rateLimit !== null });
      serveSite(http, site, () => publicUrl);
    }
    const where = `SWITCHYARD_HOST is "${config.host}" and SWITCHYARD_PORT is ${config.port}`;
    const url = await naming(`${where}, where the server cannot listen`, () => listen(http, config));
    publicUrl ||= url;
    listensLocally = http
      .addresses()
      .every((one) => typeof one === 'object' && isLoopbackAddress(one.address));
    closers.push(() => closeHttp(http));
    if (config.role !== 'worker') startAll(webhooks.workers, closers);
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

/** What works by itself until it is stopped. */
function startAll(
  workers: readonly { start(): void; stop(): Promise<void> }[],
  closers: (() => Promise<void>)[],
): void {
  for (const one of workers) {
    one.start();
    closers.push(() => one.stop());
  }
}

function openRunner(config: Config, log: Log): Promise<Runner> {
  return startRunner({
    folder: join(config.data, 'runner'),
    ...(config.containment ? { containment: config.containment } : {}),
    onDiagnostic: (event) => log[event.level]({ event: event.event, run: event.runKey }, event.message),
  });
}

/**
 * Runs the server as a process: settings from the environment. SIGTERM and SIGINT drain it, and so does the end of the
 * process that started it with a channel, so that nobody finds an old server on the port of a new one.
 */
async function main(seams: Seams): Promise<void> {
  const config = readConfig();
  const site = join(import.meta.dirname, '..', 'site', 'dist');
  const started = process.send !== undefined;
  const server = await startServer(config, { site, ...seams });
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`After ${signal} the server could not close cleanly: ${messageOf(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('disconnect', () => stop('the end of the process that started it'));
  if (started && !process.connected) return stop('the end of the process that started it');
  process.send?.({
    url: server.url,
    publicUrl: config.publicUrl ?? server.url,
    role: config.role,
    tokenPath: join(config.data, 'root-token'),
    isFirstStart: server.firstStart !== null,
    containment: server.runner?.host.containment ?? null,
    containmentNote: server.runner?.host.containmentNote ?? '',
    notHeld: server.runner?.host.notHeld ?? [],
  });
}

/** `main`, which ends the process with the reason when it cannot start. `seams` are for programs that put it to the test. */
export async function runProcess(seams: Seams = {}): Promise<void> {
  try {
    await main(seams);
  } catch (error) {
    process.stderr.write(
      `${error instanceof ConfigError ? error.message : `The server could not start: ${messageOf(error)}`}\n`,
    );
    process.exit(1);
  }
}

if (import.meta.main) await runProcess();
