/** The handlers of all operations. */

import * as memberOperations from './accounts/account/members.ts';
import * as ownAccountOperations from './accounts/account/own-account.ts';
import * as serverAccountOperations from './accounts/account/server-accounts.ts';
import * as auditOperations from './accounts/audit/operations.ts';
import * as deviceAuthorizationOperations from './accounts/device-authorizations/operations.ts';
import * as organizationOperations from './accounts/organizations/operations.ts';
import * as sessionOperations from './accounts/sessions/operations.ts';
import * as ssoOperations from './accounts/sso/operations.ts';
import * as usageOperations from './accounts/usage/operations.ts';
import * as quotaOperations from './accounts/usage/quota-operations.ts';
import * as executableOperations from './apps/applications/executable-operations.ts';
import * as applicationOperations from './apps/applications/operations.ts';
import * as applicationQuotaOperations from './apps/applications/quota-operations.ts';
import * as instanceOperations from './apps/instances/operations.ts';
import * as marketplaceAppOperations from './apps/marketplace/app-operations.ts';
import * as subscriptionOperations from './apps/marketplace/subscription-operations.ts';
import * as marketplaceVersionOperations from './apps/marketplace/version-operations.ts';
import * as secretsOperations from './apps/secrets/operations.ts';
import * as uploadOperations from './apps/uploads/operations.ts';
import * as versionOperations from './apps/versions/operations.ts';
import * as acceptanceOperations from './experiments/acceptance/acceptance-operations.ts';
import * as batchOperations from './experiments/batch/batch-operations.ts';
import * as bisectOperations from './experiments/bisect/bisect-operations.ts';
import * as ensembleOperations from './experiments/ensembles/operations.ts';
import * as shadowTestOperations from './experiments/online/shadow-operations.ts';
import * as switchbackTestOperations from './experiments/online/switchback-operations.ts';
import * as planOperations from './experiments/planning/plan-operations.ts';
import * as summaryOperations from './experiments/summaries/experiment-summaries.ts';
import * as accountStreamOperations from './ops/account-streams/operations.ts';
import * as communityOperations from './ops/community/operations.ts';
import * as backupOperations from './ops/health/backup-operations.ts';
import * as healthOperations from './ops/health/operations.ts';
import * as inventoryOperations from './ops/inventory/operations.ts';
import * as retentionOperations from './ops/retention/operations.ts';
import * as deliveryOperations from './ops/webhooks/delivery-operations.ts';
import * as webhookOperations from './ops/webhooks/operations.ts';
import type { Context } from './platform/http/handlers/context.ts';
import { bindHandlers, type Handlers } from './platform/http/handlers/handler.ts';
import * as flowOperations from './runs/api/flow-operations.ts';
import * as licenseOperations from './runs/api/license-operations.ts';
import * as runListOperations from './runs/api/list-runs.ts';
import * as runOperations from './runs/api/operations.ts';
import * as queueOperations from './runs/api/queue-operations.ts';
import * as replayOperations from './runs/api/replay-operations.ts';
import * as seriesOperations from './runs/api/series-operations.ts';
import * as runStreamOperations from './runs/api/stream-operations.ts';
import * as workerOperations from './runs/api/worker-operations.ts';
import * as inputSetOperations from './runs/input-sets/operations.ts';
import * as inputOperations from './runs/inputs/operations.ts';
import * as runCountOperations from './runs/listing/operations.ts';
import * as logSearchOperations from './runs/log-search/operations.ts';
import * as provisionerOperations from './runs/provisioner/operations.ts';
import * as remoteOperations from './runs/remote/operations.ts';
import * as shareOperations from './runs/shares/operations.ts';
import * as tagOperations from './runs/tags/operations.ts';
import * as viewOperations from './runs/views/operations.ts';
import * as workerTokenOperations from './runs/workers/token-operations.ts';

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
    ...bindHandlers(context, runCountOperations),
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
    ...bindHandlers(context, summaryOperations),
    ...bindHandlers(context, bisectOperations),
    ...bindHandlers(context, webhookOperations),
    ...bindHandlers(context, deliveryOperations),
    ...bindHandlers(context, communityOperations),
    ...bindHandlers(context, backupOperations),
    ...bindHandlers(context, healthOperations),
  };
}
