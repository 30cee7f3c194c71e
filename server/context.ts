/**
 * Every service that handlers share, by room. A handler names those that it uses, `Pick<Context, …>`, and gets no other.
 * No file imports this one: it adds to the type in `platform/http/handlers/context.ts`, for which the rooms come too late.
 */

import type {
  AccountId,
  ExperimentId,
  InputId,
  InstanceId,
  RunId,
  SecretsCollectionId,
  VersionId,
  WorkerTokenId,
} from '@switchyard/contract/schemas/ids.ts';
import type { Host } from '@switchyard/runner';
import type { JsonReader } from '@switchyard/worker/results/json-reader.ts';
import type { Author, Revoked, RevokedKinds } from './accounts/account/access-changes.ts';
import type { Invites } from './accounts/account/invites.ts';
import type { SignUpPolicy } from './accounts/account/sign-up.ts';
import type { Tokens } from './accounts/account/tokens.ts';
import type { DeviceCodes } from './accounts/device-authorizations/device-codes.ts';
import type { SingleSignOn } from './accounts/sso/single-sign-on.ts';
import type { CoreHourLimiter } from './accounts/usage/core-hours.ts';
import type { AccountSemaphore } from './apps/applications/account-semaphore.ts';
import type { ApplicationsTable } from './apps/applications/schema.ts';
import type { Uploads } from './apps/uploads/uploads.ts';
import type { PropertyReader } from './experiments/input-properties/property-reader.ts';
import type { OnlineTestResults } from './experiments/online/online-test-results.ts';
import type { OnlineTests } from './experiments/online/online-tests.ts';
import type { QuestionMemory } from './experiments/questions/question-memory.ts';
import type { ResultsCache } from './experiments/results/results-cache.ts';
import type { ResultsWorkerPool } from './experiments/results/results-worker-pool.ts';
import type { ExperimentVerdicts } from './experiments/summaries/experiment-verdicts.ts';
import type { AccountStreams } from './ops/account-streams/account-streams.ts';
import type { StorageProbe } from './ops/health/storage-probe.ts';
import type { StorageMeter } from './ops/retention/storage-meter.ts';
import type { ConsoleFiles } from './ops/site/console.ts';
import type { AddressRule } from './ops/webhooks/addresses.ts';
import type { Reader, Writer } from './platform/database/database.ts';
import type { Encryptor } from './platform/database/encryption.ts';
import type { Member, Owner } from './platform/http/handlers/handler.ts';
import type { CompressedBodies } from './platform/http/lists/compressed-bodies.ts';
import type { PageTokens } from './platform/http/lists/pagination.ts';
import type { UrlSigner } from './platform/http/requests/signed-url.ts';
import type { Leadership } from './platform/jobs/leadership.ts';
import type { ProvisionerSettings } from './platform/settings/provisioner-settings.ts';
import type { RunTokens } from './runs/access/run-tokens.ts';
import type { OpenCsvLists } from './runs/api/runs-csv.ts';
import type { RunDeletion } from './runs/execute/cancel-and-delete.ts';
import type { LogSearch } from './runs/log-search/log-search.ts';
import type { LogPollLimiter } from './runs/logs/log-poll-limiter.ts';
import type { CanProvision } from './runs/queue/explain-waiting.ts';
import type { AttemptFiles } from './runs/remote/attempt-files.ts';
import type { AttemptEnds } from './runs/remote/end-attempt.ts';
import type { RemoteWorkers } from './runs/remote/remote-workers.ts';
import type { WorkerSyncs } from './runs/remote/worker-syncs.ts';
import type { ShareTokens } from './runs/shares/share-tokens.ts';
import type { ShareViews } from './runs/shares/share-views.ts';
import type { RunStreams } from './runs/streams/run-streams.ts';
import type { RunWaits } from './runs/streams/run-waits.ts';
import type { EnsembleRunRequest, JoinedExperiment } from './runs/submit/create-run.ts';
import type { ManagedContent, StoreRun } from './runs/submit/submit.ts';

declare module './platform/http/handlers/context.ts' {
  interface Context {
    // platform
    compressedBodies: CompressedBodies;
    pageTokens: PageTokens;

    // accounts
    /** Revokes what an author made, except keys, and returns it. */
    revokeMade(tx: Writer, author: Author, kinds: RevokedKinds): Promise<Revoked[]>;
    invites: Invites;
    /** The server's address without a trailing slash; known once the server listens. */
    publicUrl(): string;
    /** Deletes what the owner stored for nobody else in the account. */
    deletePrivateViews(tx: Writer, account: AccountId, owner: string): Promise<void>;
    tokens: Tokens;
    signUp: SignUpPolicy;
    /** Marks everything that the account owns as deleted, in the transaction that deletes the account. */
    deleteOwned(tx: Writer, account: AccountId, at: number): Promise<void>;
    deviceCodes: DeviceCodes;
    /** null without an identity provider. */
    singleSignOn: SingleSignOn | null;
    coreHourLimiter: CoreHourLimiter;
    /** Counts the runs of the account that workers execute, or those of one of its applications. */
    countRunningRuns(db: Reader, account: AccountId, applicationUid?: string): Promise<number>;

    // apps
    /** The machine on which apps run; null on a server that runs no apps. */
    host: Host | null;
    /** Limits the concurrent inspections of archives for each account. */
    archiveInspections: AccountSemaphore;
    /** Starts the clean-up of deleted applications. */
    onApplicationDeleted(): void;
    /** Returns true when the transaction sees an instance with that id in the application. */
    hasInstance(applicationUid: string, id: InstanceId, tx: Writer): Promise<boolean>;
    /** Returns true when the transaction sees a run with that id in the application. */
    hasRun(applicationUid: string, id: RunId, tx: Writer): Promise<boolean>;
    /** Ends the publication or the subscription of a deleted application. */
    withdrawApplication(tx: Writer, application: ApplicationsTable): Promise<void>;
    /** Returns the sentence about a locked instance of the application; null when no instance is locked. */
    describeLockedInstance(applicationUid: string, tx: Writer): Promise<string | null>;
    /** Locks the secrets collection against deletion until the transaction ends; returns false when it does not exist. */
    lockSecretsCollection(tx: Writer, applicationUid: string, id: SecretsCollectionId): Promise<boolean>;
    /** Returns true if the server has a worker token with the id. */
    hasWorkerToken(tx: Writer, id: WorkerTokenId): Promise<boolean>;
    /** Encrypts the values of secrets. */
    seal: Encryptor;
    /** Returns the id of an instance that uses the collection. */
    findInstanceUsingSecrets(
      tx: Writer,
      applicationUid: string,
      id: SecretsCollectionId,
    ): Promise<string | undefined>;
    signer: UrlSigner;
    /** Returns the account and id of an application; undefined when it was removed. */
    findApplicationOwner(db: Reader, applicationUid: string): Promise<Owner | undefined>;
    /**
     * Returns the member of the run whose app requested an upload with its run token. Returns null once the token has ended,
     * and when the proof is not that of the run.
     */
    findRunCaller(id: string, proof: string): Promise<Member | null>;
    uploads: Uploads;
    /** Returns the error message for a version of the locked application that is in use; null when it can be deleted. */
    describeVersionUse(tx: Writer, application: ApplicationsTable, id: VersionId): Promise<string | null>;

    // runs
    jsonReader: JsonReader;
    openCsvLists: OpenCsvLists;
    logPollLimiter: LogPollLimiter;
    runWaits: RunWaits;
    /** Returns true if the server can start a worker that could execute the run. */
    canProvision: CanProvision;
    runStreams: RunStreams;
    runDeletion: RunDeletion;
    logSearch: LogSearch;
    /** null without a provisioner. */
    provisionerSettings: ProvisionerSettings | null;
    workerSyncs: WorkerSyncs;
    attemptEnds: AttemptEnds;
    attemptFiles: AttemptFiles;
    remoteWorkers: RemoteWorkers;
    runTokens: RunTokens;
    shareTokens: ShareTokens;
    shareViews: ShareViews;
    /** Returns the managed input with a content of its own for the run. Throws a 400 for a missing input. */
    useInput(applicationUid: string, id: InputId): Promise<ManagedContent>;
    /** Creates the run of an ensemble. Throws a 400 for a missing definition, or for one that cannot run. */
    startEnsemble<R>(request: EnsembleRunRequest, store: StoreRun<R>): Promise<R>;
    /** Returns the batch experiment that a run joins. Throws a 400 for a missing or ended one. */
    joinBatch(application: ApplicationsTable, id: ExperimentId): Promise<JoinedExperiment>;

    // experiments
    /** Results of batch experiments that have not ended. */
    batchResultsCache: ResultsCache;
    resultsWorkerPool: ResultsWorkerPool;
    /** Reads the fields of inputs that an experiment names. */
    propertyReader: PropertyReader;
    /** Ends tests whose time has ended, before a request reads them. */
    onlineTests: OnlineTests;
    /** Results of shadow and switchback tests. */
    onlineTestResults: OnlineTestResults;
    /** Starts the job that advances shadow and switchback tests. */
    onOnlineTestChanged(): void;
    /** Starts the clean-up of deleted experiments. */
    onExperimentDeleted(): void;
    questionMemory: QuestionMemory;
    experimentVerdicts: ExperimentVerdicts;

    // ops
    accountStreams: AccountStreams;
    /** The built console; null on a server without one. */
    consoleFiles: ConsoleFiles | null;
    storage: StorageProbe;
    /** Returns the reason why the process accepts no work, as a sentence; empty while it accepts work. */
    notReadyReason(): string;
    leadership: Pick<Leadership, 'isLeader'>;
    storageMeter: StorageMeter;
    onRetentionChanged(): void;
    /** Returns the rule for a webhook; `isLocallySet` is true when a caller on this machine set its address. */
    addressRuleFor(isLocallySet: boolean): AddressRule;
    /** Starts the clean-up of deleted webhooks. */
    onWebhookDeleted(): void;
  }
}
