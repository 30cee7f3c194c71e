/**
 * The list of background jobs. The server that leads runs them (`jobs/leadership.ts`). A process that executes runs has three
 * more, which start and drain with its worker (`runs/execute/start-worker.ts`): `send-heartbeats`, `claim-runs` and
 * `cancel-runs`.
 */
import { chainAuditEntriesJob } from './accounts/audit/chain.ts';
import { removeExpiredDeviceAuthorizationsJob } from './accounts/device-authorizations/clean-up.ts';
import { removeEndedSessionsJob } from './accounts/sessions/sessions.ts';
import { countUsageJob } from './accounts/usage/count-usage.ts';
import type { Uploads } from './apps/uploads/uploads.ts';
import { decideAcceptanceTestsJob } from './experiments/acceptance/decide-acceptance-tests.ts';
import { finalizeBatchesJob } from './experiments/batch/finalize-batches.ts';
import { advanceBisectsJob } from './experiments/bisect/advance-bisects.ts';
import { advanceEnsemblesJob } from './experiments/ensembles/advance.ts';
import { startPlannedEnsemble } from './experiments/ensembles/start.ts';
import type { PropertyReader } from './experiments/input-properties/property-reader.ts';
import type { OnlineTests } from './experiments/online/online-tests.ts';
import { readOriginalFieldsJob } from './experiments/online/read-original-fields.ts';
import { removeDeletedExperimentsJob } from './experiments/operations/experiment-clean-up.ts';
import type { QuestionMemory } from './experiments/questions/question-memory.ts';
import type { ResultsWorkerPool } from './experiments/results/results-worker-pool.ts';
import { removeDeletedApplicationsJob } from './ops/clean-up/deleted-applications.ts';
import { removeExpiredRunsJob } from './ops/clean-up/expired-runs.ts';
import { removeUnusedExecutablesJob } from './ops/clean-up/unused-executables.ts';
import { removeDeletedWebhooksJob, removeOldConversationsJob } from './ops/webhooks/clean-up.ts';
import { type SendDeliveriesParts, sendDeliveriesJob } from './ops/webhooks/deliveries.ts';
import { fanOutEventsJob } from './ops/webhooks/fan-out.ts';
import { fanOutExperimentEventsJob } from './ops/webhooks/fan-out-experiments.ts';
import { watchQueueJob } from './ops/webhooks/queue-problems/watch-queue.ts';
import type { Contents } from './platform/blobs/contents.ts';
import type { Database } from './platform/database/database.ts';
import type { Idempotency } from './platform/http/handlers/idempotency.ts';
import type { Metrics } from './platform/http/metrics.ts';
import type { Job, JobContext } from './platform/jobs/define-job.ts';
import type { Random } from './platform/random.ts';
import type { ProblemThresholds } from './platform/settings/webhook-settings.ts';
import type { Tracing } from './platform/tracing/tracing.ts';
import { removeOldLogChunksJob, removeOldRunEventsJob } from './runs/logs/history-clean-up.ts';
import { type ProvisionerParts, reconcileWorkersJob } from './runs/provisioner/reconcile-workers.ts';
import { recoverOrphanedRunsJob } from './runs/queue/orphan-recovery.ts';
import { removeAttemptFilesJob } from './runs/remote/attempt-files.ts';
import { compareReplaysJob } from './runs/replay/compare-replays.ts';
import { removeExpiredSharesJob } from './runs/shares/expired-shares.ts';
import { startPlannedRunsJob } from './runs/submit/planned-run-starter.ts';

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
