/** The account that publishes an app. */
import type { Session } from '../../session/session.ts';

/** The option of commands that read apps of other accounts too. */
export const PARTNER_OPTION = [
  '--partner-id <id>',
  'The account that publishes the app; otherwise yours.',
] as const;

/** Returns the id of the given account, or of that of the caller. */
export async function findPartner(session: Session, partner_id?: string): Promise<string> {
  return partner_id ?? (await session.connect().call('getAccount')).body.id;
}
