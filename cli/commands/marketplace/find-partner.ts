/** The account that publishes an app. */
import type { Session } from '../../session/session.ts';
import type { Field, Values } from '../resource/define-command.ts';

/** The option of commands that read apps of other accounts too. */
export const PARTNER: Field = ['<id>', 'The account that publishes the app; otherwise yours.'];

/** Completes a request by the id of the given account, or of that of the caller. */
export async function addPartner(values: Values, session: Session): Promise<Values> {
  return {
    ...values,
    partner_id: values.partner_id ?? (await session.connect().call('getAccount')).body.id,
  };
}
