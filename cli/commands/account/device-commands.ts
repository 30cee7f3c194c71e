/** Commands with which a person decides about a program that signs in by a code, as `login` does on another machine. */
import { cleanLine } from '../../terminal/clean-text.ts';
import { defineCommand, type Field } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';

const user_code: Field = ['<code>', 'The code that the program shows, such as WDJB-MJHT.'];

/** Defines `devices` with its commands. */
export const defineDeviceCommands = defineResource({
  name: 'devices',
  noun: 'device',
  text: 'Approve or deny the sign-in of a program on another machine by its code.',
  get: {
    operation: 'getDeviceAuthorization',
    text: 'Print the program that shows a code, and the address from which it asks.',
    arguments: { user_code },
    example: 'WDJB-MJHT',
  },
  show: ({ client_name, address, status, role, created_at, expires_at }) => ({
    program: client_name,
    address,
    status,
    role,
    asked: created_at,
    expires: expires_at,
  }),
  more: (devices, session) => {
    defineCommand(devices, session, {
      name: 'approve',
      operation: 'approveDeviceAuthorization',
      text: 'Let the program sign in with a new key of yours. A decision is final.',
      arguments: { user_code },
      options: { role: ['<role>', 'The role of the key; otherwise your own.'] },
      example: 'WDJB-MJHT --role operator',
      done: ({ client_name, role }) => `Approved ${cleanLine(client_name)} with the role ${role}.`,
    });
    defineCommand(devices, session, {
      name: 'deny',
      operation: 'denyDeviceAuthorization',
      text: 'Refuse the sign-in of the program. A decision is final.',
      arguments: { user_code },
      example: 'WDJB-MJHT',
      done: ({ client_name }) => `Denied ${cleanLine(client_name)}.`,
    });
  },
});
