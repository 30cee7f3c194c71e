/** All commands, in the order of the help. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../session/session.ts';
import { defineAccountCommands } from './account/account-commands.ts';
import { defineAuditCommands } from './account/audit-commands.ts';
import { defineDeviceCommands, defineKeyCommands, defineSessionCommands } from './account/key-commands.ts';
import { defineMemberCommands } from './account/member-commands.ts';
import { defineProfileCommands } from './account/profile-commands.ts';
import { defineApiCommand } from './api-command.ts';
import { defineApplyCommands } from './applying/apply-commands.ts';
import { definePromoteCommand } from './applying/promote-command.ts';
import { defineAppCommands } from './apps/app-commands.ts';
import { defineApplicationCommands } from './apps/application-commands.ts';
import { defineRetentionCommands } from './apps/retention-commands.ts';
import { defineBackupCommands } from './backup-commands.ts';
import { defineCompletionCommands } from './completion-commands.ts';
import { defineBisectCommand } from './experiments/bisect-command.ts';
import { defineEnsembleCommands } from './experiments/ensemble-commands.ts';
import { defineExperimentCommands } from './experiments/experiment-commands.ts';
import { defineInputCommands } from './inputs/input-commands.ts';
import { defineSetCommands } from './inputs/set-commands.ts';
import { defineInstanceCommands } from './instance-commands.ts';
import { defineLocalCommands } from './local-commands.ts';
import { defineMarketplaceCommands, defineSubscriptionCommands } from './marketplace-commands.ts';
import { defineMcpCommands } from './mcp/mcp-commands.ts';
import { defineQueueCommands } from './queue-commands.ts';
import { defineRunCommands } from './runs/run-commands.ts';
import { defineSecretCommands } from './secret-commands.ts';
import { defineShareCommands } from './share-commands.ts';
import { defineUsageCommands } from './usage-commands.ts';
import { defineVersionCommands } from './version-commands.ts';
import { defineViewCommands } from './views/view-commands.ts';
import { defineWebhookCommands } from './webhooks/webhook-commands.ts';
import { defineWorkerCommands } from './worker-commands.ts';

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
