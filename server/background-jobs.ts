/**
 * The list of background jobs. The server that leads runs them (`jobs/leadership.ts`). A process that executes runs has three
 * more, which start and drain with its worker (`runs/execute/start-worker.ts`): `send-heartbeats`, `claim-runs` and
 * `cancel-runs`.
 */
import { chainAuditEntriesJob } from './audit/chain.ts';
import type { Contents } from './blobs/contents.ts';
import { removeDeletedApplicationsJob } from './clean-up/deleted-applications.ts';
import { removeExpiredRunsJob } from './clean-up/expired-runs.ts';
import { removeUnusedExecutablesJob } from './clean-up/unused-executables.ts';
import type { Database } from './database/database.ts';
import { removeExpiredDeviceAuthorizationsJob } from './device-authorizations/clean-up.ts';
import { advanceEnsemblesJob } from './ensembles/advance.ts';
import { startPlannedEnsemble } from './ensembles/start.ts';
import { decideAcceptanceTestsJob } from './experiments/acceptance/decide-acceptance-tests.ts';
import { finalizeBatchesJob } from './experiments/batch/finalize-batches.ts';
import { advanceBisectsJob } from './experiments/bisect/advance-bisects.ts';
import type { PropertyReader } from './experiments/input-properties/property-reader.ts';
import type { OnlineTests } from './experiments/online/online-tests.ts';
import { readOriginalFieldsJob } from './experiments/online/read-original-fields.ts';
import { removeDeletedExperimentsJob } from './experiments/operations/experiment-clean-up.ts';
import type { QuestionMemory } from './experiments/questions/question-memory.ts';
import type { ResultsWorkerPool } from './experiments/results/results-worker-pool.ts';
import type { Idempotency } from './http/handlers/idempotency.ts';
import type { Metrics } from './http/metrics.ts';
import type { Job, JobContext } from './jobs/define-job.ts';
import { type ProvisionerParts, reconcileWorkersJob } from './provisioner/reconcile-workers.ts';
import type { Random } from './random.ts';
import { removeOldLogChunksJob, removeOldRunEventsJob } from './runs/logs/history-clean-up.ts';
import { recoverOrphanedRunsJob } from './runs/queue/orphan-recovery.ts';
import { removeAttemptFilesJob } from './runs/remote/attempt-files.ts';
import { compareReplaysJob } from './runs/replay/compare-replays.ts';
import { startPlannedRunsJob } from './runs/submit/planned-run-starter.ts';
import { removeEndedSessionsJob } from './sessions/sessions.ts';
import type { ProblemThresholds } from './settings/webhook-settings.ts';
import { removeExpiredSharesJob } from './shares/expired-shares.ts';
import type { Tracing } from './tracing/tracing.ts';
import type { Uploads } from './uploads/uploads.ts';
import { countUsageJob } from './usage/count-usage.ts';
import { removeDeletedWebhooksJob, removeOldConversationsJob } from './webhooks/clean-up.ts';
import { type SendDeliveriesParts, sendDeliveriesJob } from './webhooks/deliveries.ts';
import { fanOutEventsJob } from './webhooks/fan-out.ts';
import { fanOutExperimentEventsJob } from './webhooks/fan-out-experiments.ts';
import { watchQueueJob } from './webhooks/queue-problems/watch-queue.ts';

interface Parts extends JobContext, SendDeliveriesParts {
  database: Database;
  contents: Contents;
  random: Random;
  metrics: Metrics;
  tracing: Tracing | null;
  idempotency: Idempotency;
  uploads: Uploads;
  onlineTests: OnlineTests;
  resultsWorkerPool: ResultsWorkerPool;
  propertyReader: PropertyReader;
  questionMemory: QuestionMemory;
  problemThresholds: ProblemThresholds;
  publicUrl(): string;
  /** null without a provisioner. */
  provisioner: Pick<ProvisionerParts, 'settings' | 'adapter' | 'namePrefix' | 'issueWorkerToken'> | null;
}

/** The jobs, none of which has started. */
export interface BackgroundJobs {
  /** In the order in which they start; they stop in the reverse order. */
  maintenance: readonly Job[];
  /** Start them once the server listens: the address rules depend on who can reach it, and workers reach its address. */
  webhooks: readonly Job[];
}

/** Creates all background jobs. */
export function createBackgroundJobs(parts: Parts): BackgroundJobs {
  const { idempotency, uploads, onlineTests, provisioner } = parts;
  return {
    maintenance: [
      idempotency.removeExpiredResponsesJob(parts),
      removeEndedSessionsJob(parts),
      removeExpiredDeviceAuthorizationsJob(parts),
      removeExpiredSharesJob(parts),
      countUsageJob(parts),
      chainAuditEntriesJob(parts),
      uploads.removeExpiredUploadsJob(parts),
      removeDeletedApplicationsJob(parts),
      removeExpiredRunsJob(parts),
      removeUnusedExecutablesJob(parts),
      startPlannedRunsJob({ ...parts, startPlannedEnsemble }),
      compareReplaysJob(parts),
      advanceEnsemblesJob(parts),
      finalizeBatchesJob(parts),
      advanceBisectsJob(parts),
      removeDeletedExperimentsJob(parts),
      onlineTests.advanceOnlineTestsJob(),
      readOriginalFieldsJob(parts),
      onlineTests.finalizeOnlineTestsJob(),
      decideAcceptanceTestsJob(parts),
      recoverOrphanedRunsJob(parts),
      removeAttemptFilesJob(parts),
      removeOldLogChunksJob(parts),
      removeOldRunEventsJob(parts),
    ],
    webhooks: [
      fanOutEventsJob(parts),
      fanOutExperimentEventsJob(parts),
      watchQueueJob(parts),
      sendDeliveriesJob(parts),
      removeDeletedWebhooksJob(parts),
      removeOldConversationsJob(parts),
      ...(provisioner ? [reconcileWorkersJob({ ...parts, ...provisioner })] : []),
    ],
  };
}
