/** The handlers of all operations. */

import * as memberOperations from './account/members.ts';
import * as ownAccountOperations from './account/own-account.ts';
import * as serverAccountOperations from './account/server-accounts.ts';
import * as accountStreamOperations from './account-streams/operations.ts';
import * as executableOperations from './applications/executable-operations.ts';
import * as applicationOperations from './applications/operations.ts';
import * as applicationQuotaOperations from './applications/quota-operations.ts';
import * as auditOperations from './audit/operations.ts';
import * as communityOperations from './community/operations.ts';
import * as deviceAuthorizationOperations from './device-authorizations/operations.ts';
import * as ensembleOperations from './ensembles/operations.ts';
import * as acceptanceOperations from './experiments/acceptance/acceptance-operations.ts';
import * as batchOperations from './experiments/batch/batch-operations.ts';
import * as bisectOperations from './experiments/bisect/bisect-operations.ts';
import * as shadowTestOperations from './experiments/online/shadow-operations.ts';
import * as switchbackTestOperations from './experiments/online/switchback-operations.ts';
import * as planOperations from './experiments/planning/plan-operations.ts';
import * as backupOperations from './health/backup-operations.ts';
import * as healthOperations from './health/operations.ts';
import type { Context } from './http/handlers/context.ts';
import { bindHandlers, type Handlers } from './http/handlers/handler.ts';
import * as inputSetOperations from './input-sets/operations.ts';
import * as inputOperations from './inputs/operations.ts';
import * as instanceOperations from './instances/operations.ts';
import * as inventoryOperations from './inventory/operations.ts';
import * as marketplaceAppOperations from './marketplace/app-operations.ts';
import * as subscriptionOperations from './marketplace/subscription-operations.ts';
import * as marketplaceVersionOperations from './marketplace/version-operations.ts';
import * as organizationOperations from './organizations/operations.ts';
import * as provisionerOperations from './provisioner/operations.ts';
import * as retentionOperations from './retention/operations.ts';
import * as flowOperations from './runs/api/flow-operations.ts';
import * as licenseOperations from './runs/api/license-operations.ts';
import * as runListOperations from './runs/api/list-runs.ts';
import * as runOperations from './runs/api/operations.ts';
import * as queueOperations from './runs/api/queue-operations.ts';
import * as replayOperations from './runs/api/replay-operations.ts';
import * as seriesOperations from './runs/api/series-operations.ts';
import * as runStreamOperations from './runs/api/stream-operations.ts';
import * as workerOperations from './runs/api/worker-operations.ts';
import * as logSearchOperations from './runs/log-search/operations.ts';
import * as remoteOperations from './runs/remote/operations.ts';
import * as tagOperations from './runs/tags/operations.ts';
import * as viewOperations from './runs/views/operations.ts';
import * as secretsOperations from './secrets/operations.ts';
import * as sessionOperations from './sessions/operations.ts';
import * as shareOperations from './shares/operations.ts';
import * as ssoOperations from './sso/operations.ts';
import * as uploadOperations from './uploads/operations.ts';
import * as usageOperations from './usage/operations.ts';
import * as quotaOperations from './usage/quota-operations.ts';
import * as versionOperations from './versions/operations.ts';
import * as deliveryOperations from './webhooks/delivery-operations.ts';
import * as webhookOperations from './webhooks/operations.ts';
import * as workerTokenOperations from './workers/token-operations.ts';

/** Binds the handler of each operation to the context. An operation without a handler does not compile. */
export function createHandlers(context: Context): Handlers {
  return {
    ...bindHandlers(context, ownAccountOperations),
    ...bindHandlers(context, memberOperations),
    ...bindHandlers(context, inventoryOperations),
    ...bindHandlers(context, accountStreamOperations),
    ...bindHandlers(context, serverAccountOperations),
    ...bindHandlers(context, organizationOperations),
    ...bindHandlers(context, ssoOperations),
    ...bindHandlers(context, sessionOperations),
    ...bindHandlers(context, deviceAuthorizationOperations),
    ...bindHandlers(context, auditOperations),
    ...bindHandlers(context, usageOperations),
    ...bindHandlers(context, quotaOperations),
    ...bindHandlers(context, licenseOperations),
    ...bindHandlers(context, applicationOperations),
    ...bindHandlers(context, applicationQuotaOperations),
    ...bindHandlers(context, executableOperations),
    ...bindHandlers(context, versionOperations),
    ...bindHandlers(context, marketplaceAppOperations),
    ...bindHandlers(context, marketplaceVersionOperations),
    ...bindHandlers(context, subscriptionOperations),
    ...bindHandlers(context, instanceOperations),
    ...bindHandlers(context, secretsOperations),
    ...bindHandlers(context, uploadOperations),
    ...bindHandlers(context, runOperations),
    ...bindHandlers(context, runListOperations),
    ...bindHandlers(context, flowOperations),
    ...bindHandlers(context, logSearchOperations),
    ...bindHandlers(context, tagOperations),
    ...bindHandlers(context, viewOperations),
    ...bindHandlers(context, shareOperations),
    ...bindHandlers(context, queueOperations),
    ...bindHandlers(context, workerOperations),
    ...bindHandlers(context, workerTokenOperations),
    ...bindHandlers(context, remoteOperations),
    ...bindHandlers(context, provisionerOperations),
    ...bindHandlers(context, replayOperations),
    ...bindHandlers(context, seriesOperations),
    ...bindHandlers(context, runStreamOperations),
    ...bindHandlers(context, retentionOperations),
    ...bindHandlers(context, inputOperations),
    ...bindHandlers(context, inputSetOperations),
    ...bindHandlers(context, ensembleOperations),
    ...bindHandlers(context, shadowTestOperations),
    ...bindHandlers(context, switchbackTestOperations),
    ...bindHandlers(context, batchOperations),
    ...bindHandlers(context, acceptanceOperations),
    ...bindHandlers(context, planOperations),
    ...bindHandlers(context, bisectOperations),
    ...bindHandlers(context, webhookOperations),
    ...bindHandlers(context, deliveryOperations),
    ...bindHandlers(context, communityOperations),
    ...bindHandlers(context, backupOperations),
    ...bindHandlers(context, healthOperations),
  };
}
