/** Commands for applications. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../../session/session.ts';
import { defineOpen } from './open-command.ts';
import { definePush } from './push-command.ts';

/** Defines `push` and `open`. */
export function defineAppCommands(program: Command, session: Session): void {
  definePush(program, session);
  defineOpen(program, session);
}
