/** Commands for sessions of the console. */
import { age } from '../../terminal/columns.ts';
import { defineResource } from '../resource/define-resource.ts';

/** Defines `sessions` with its commands. */
export const defineSessionCommands = defineResource({
  name: 'sessions',
  noun: 'session',
  text: 'List and end sessions of the console.',
  list: {
    operation: 'listSessions',
    text: 'List the browsers that are signed in to the console, the newest first.',
    columns: {
      SESSION: 'id',
      PERSON: ({ key }) => key.user_email,
      ROLE: ({ key }) => key.role,
      ADDRESS: 'address',
      'LAST USED': age('last_used_at'),
      BROWSER: 'user_agent',
    },
    empty: 'Nobody is signed in to the console.',
  },
  remove: {
    operation: 'endSession',
    words: ['end', 'Ended'],
    text: 'End sessions at once: their browsers are signed out.',
    isMany: true,
    example: 'session-01jd3v7k9mq2z5x8',
  },
});
