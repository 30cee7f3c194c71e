/** All commands: their groups in the help, and which of them work in one application. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../session/session.ts';
import { defineAccountCommands } from './account/account-commands.ts';
import { defineAuditCommands } from './account/audit-commands.ts';
import { defineDeviceCommands, defineKeyCommands, defineSessionCommands } from './account/key-commands.ts';
import { defineMemberCommands } from './account/member-commands.ts';
import { defineProfileCommands } from './account/profile-commands.ts';
import { defineApiCommand } from './api-command.ts';
import { addApplication } from './application-argument.ts';
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

/** The headings of the help in their order, with the commands below each. */
const COMMAND_GROUPS = {
  Start: [
    defineProfileCommands,
    defineLocalCommands,
    defineAppCommands,
    defineMcpCommands,
    defineCompletionCommands,
    defineApiCommand,
  ],
  Build: [
    defineApplicationCommands,
    defineVersionCommands,
    defineInstanceCommands,
    defineSecretCommands,
    defineApplyCommands,
  ],
  Run: [
    defineRunCommands,
    defineEnsembleCommands,
    defineInputCommands,
    defineViewCommands,
    defineShareCommands,
    defineQueueCommands,
  ],
  Prove: [defineSetCommands, defineExperimentCommands, defineBisectCommand, definePromoteCommand],
  Operate: [
    defineAccountCommands,
    defineMemberCommands,
    defineSessionCommands,
    defineKeyCommands,
    defineDeviceCommands,
    defineAuditCommands,
    defineUsageCommands,
    defineRetentionCommands,
    defineWebhookCommands,
    defineWorkerCommands,
    defineMarketplaceCommands,
    defineSubscriptionCommands,
    defineBackupCommands,
  ],
} as const satisfies Record<string, readonly CommandGroup[]>;

/** The group of commands that a first hour needs. */
export const FIRST_GROUP = 'Start' satisfies keyof typeof COMMAND_GROUPS;

/** Commands that all work in one application. */
const APPLICATION_COMMANDS: ReadonlySet<CommandGroup> = new Set([
  ...[defineVersionCommands, defineInstanceCommands, defineSecretCommands, defineRetentionCommands],
  ...[defineRunCommands, defineEnsembleCommands, defineInputCommands, defineViewCommands],
  defineShareCommands,
  ...COMMAND_GROUPS.Prove,
]);

/** Adds all commands to the program, each in its group. */
export function defineCommands(program: Command, session: Session): void {
  for (const [heading, groups] of Object.entries<readonly CommandGroup[]>(COMMAND_GROUPS)) {
    program.commandsGroup(heading);
    for (const define of groups) {
      const before = program.commands.length;
      define(program, session);
      if (APPLICATION_COMMANDS.has(define)) program.commands.slice(before).forEach(addApplication);
    }
  }
}
