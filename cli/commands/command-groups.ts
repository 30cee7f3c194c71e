/** All commands, in the order of the help. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../session/session.ts';
import { defineProfileCommands } from './account/profile-commands.ts';
import { defineApiCommand } from './api/api-command.ts';
import { defineAppCommands } from './apps/app-commands.ts';
import { defineInputCommands } from './inputs/input-commands.ts';
import { defineSetCommands } from './inputs/set-commands.ts';
import { defineLocalCommands } from './local/local-commands.ts';
import { defineRunCommands } from './runs/run-commands.ts';

/** Adds commands to the program. */
type CommandGroup = (program: Command, session: Session) => void;

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  defineProfileCommands,
  defineAppCommands,
  defineLocalCommands,
  defineRunCommands,
  defineApiCommand,
  defineInputCommands,
  defineSetCommands,
];
