/** Commands with which a person decides about a program that signs in by a code, as `login` does on another machine. */
import { type Command, Option } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { ROLES } from '@switchyard/contract/roles.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatFields } from '../../terminal/table.ts';

const CODE_TEXT = 'The code that the program shows, such as WDJB-MJHT.';

/** Defines `devices` with its commands. */
export function defineDeviceCommands(program: Command, session: Session): void {
  const devices = program
    .command('devices')
    .description('Approve or deny the sign-in of a program on another machine by its code.');
  devices
    .command('get')
    .description('Print the program that shows a code, and the address from which it asks.')
    .argument('<code>', CODE_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard devices get WDJB-MJHT')
    .action(async (user_code) => {
      const { body } = await session.connect().call('getDeviceAuthorization', { query: { user_code } });
      printProgram(session, body);
    });
  devices
    .command('approve')
    .description('Let the program sign in with a new key of yours. A decision is final.')
    .argument('<code>', CODE_TEXT)
    .addOption(new Option('--role <role>', 'The role of the key; otherwise your own.').choices(ROLES))
    .addHelpText('after', '\nExample:\n  switchyard devices approve WDJB-MJHT --role operator')
    .action(async (user_code, { role }) => {
      const { body } = await session
        .connect()
        .call('approveDeviceAuthorization', { body: { user_code, ...dropUndefined({ role }) } });
      printDecision(session, body, `Approved ${cleanLine(body.client_name)} with the role ${body.role}.`);
    });
  devices
    .command('deny')
    .description('Refuse the sign-in of the program. A decision is final.')
    .argument('<code>', CODE_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard devices deny WDJB-MJHT')
    .action(async (user_code) => {
      const { body } = await session.connect().call('denyDeviceAuthorization', { body: { user_code } });
      printDecision(session, body, `Denied ${cleanLine(body.client_name)}.`);
    });
}

type Program = CallResponse<Operations['getDeviceAuthorization']>['body'];

function printProgram({ output }: Session, program: Program): void {
  output.print({
    json: program,
    text: () =>
      formatFields({
        program: program.client_name,
        address: program.address,
        status: program.status,
        role: program.role,
        asked: program.created_at,
        expires: program.expires_at,
      }),
    quiet: () => program.id,
  });
}

function printDecision({ output }: Session, program: Program, text: string): void {
  output.print({ json: program, text: () => `${text}\n`, quiet: () => program.id });
}
