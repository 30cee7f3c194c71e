/** All commands, in the order of the help. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../session/session.ts';
import { defineAccountCommands } from './account/account-commands.ts';
import { defineAuditCommands } from './account/audit-commands.ts';
import { defineDeviceCommands } from './account/device-commands.ts';
import { defineKeyCommands } from './account/key-commands.ts';
import { defineMemberCommands } from './account/member-commands.ts';
import { defineProfileCommands } from './account/profile-commands.ts';
import { defineSessionCommands } from './account/session-commands.ts';
import { defineApiCommand } from './api/api-command.ts';
import { defineApplyCommands } from './applying/apply-commands.ts';
import { definePromoteCommand } from './applying/promote-command.ts';
import { defineAppCommands } from './apps/app-commands.ts';
import { defineApplicationCommands } from './apps/application-commands.ts';
import { defineRetentionCommands } from './apps/retention-commands.ts';
import { defineCompletionCommands } from './completion/completion-commands.ts';
import { defineBisectCommand } from './experiments/bisect-command.ts';
import { defineEnsembleCommands } from './experiments/ensemble-commands.ts';
import { defineExperimentCommands } from './experiments/experiment-commands.ts';
import { defineInputCommands } from './inputs/input-commands.ts';
import { defineSetCommands } from './inputs/set-commands.ts';
import { defineInstanceCommands } from './instances/instance-commands.ts';
import { defineLocalCommands } from './local/local-commands.ts';
import { defineMarketplaceCommands } from './marketplace/marketplace-commands.ts';
import { defineSubscriptionCommands } from './marketplace/subscription-commands.ts';
import { defineMcpCommands } from './mcp/mcp-commands.ts';
import { defineQueueCommands } from './queue/queue-commands.ts';
import { defineRunCommands } from './runs/run-commands.ts';
import { defineSecretCommands } from './secrets/secret-commands.ts';
import { defineBackupCommands } from './server/backup-commands.ts';
import { defineShareCommands } from './shares/share-commands.ts';
import { defineUsageCommands } from './usage/usage-commands.ts';
import { defineVersionCommands } from './versions/version-commands.ts';
import { defineViewCommands } from './views/view-commands.ts';
import { defineWebhookCommands } from './webhooks/webhook-commands.ts';
import { defineWorkerCommands } from './workers/worker-commands.ts';

/** Adds commands to the program. */
type CommandGroup = (program: Command, session: Session) => void;

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  defineProfileCommands,
  defineAppCommands,
  defineLocalCommands,
  defineApplicationCommands,
  defineRetentionCommands,
  defineVersionCommands,
  defineInstanceCommands,
  defineSecretCommands,
  defineRunCommands,
  defineViewCommands,
  defineShareCommands,
  defineInputCommands,
  defineSetCommands,
  defineExperimentCommands,
  defineBisectCommand,
  defineEnsembleCommands,
  defineApplyCommands,
  definePromoteCommand,
  defineQueueCommands,
  defineWorkerCommands,
  defineWebhookCommands,
  defineAccountCommands,
  defineMemberCommands,
  defineSessionCommands,
  defineKeyCommands,
  defineDeviceCommands,
  defineAuditCommands,
  defineUsageCommands,
  defineMarketplaceCommands,
  defineSubscriptionCommands,
  defineBackupCommands,
  defineMcpCommands,
  defineCompletionCommands,
  defineApiCommand,
];
