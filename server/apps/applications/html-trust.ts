/** Trust in the HTML assets of an application, which ends with the administrator who gave it. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { computeUpdateTime } from '../../platform/http/requests/conditional-writes.ts';
import type { ApplicationsTable } from './schema.ts';
import { updateApplication } from './store.ts';

type Trust = Pick<ApplicationsTable, 'html_trusted_at' | 'html_trusted_by' | 'html_trusted_by_key'>;

export const NO_TRUST = {
  html_trusted_at: null,
  html_trusted_by: '',
  html_trusted_by_key: null,
} as const satisfies Trust;

/** An application with trust. */
export type TrustedApplication = ApplicationsTable & { html_trusted_at: number };

/** Returns the changes by a request for trust. An earlier trust stays that of its maker. */
export function renewTrust(present: Trust, caller: Caller, now: number): Partial<Trust> {
  if (present.html_trusted_at !== null) return {};
  return { html_trusted_at: now, html_trusted_by: caller.email, html_trusted_by_key: caller.key };
}

/** Lists the trusted applications of the account, last trusted first. */
export function listTrustedApplications(db: Reader, account: AccountId): Promise<TrustedApplication[]> {
  return db
    .selectFrom('applications')
    .selectAll()
    .where('account_id', '=', account)
    .where('html_trusted_at', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('html_trusted_at', 'desc')
    .orderBy('id', 'desc')
    .$narrowType<{ html_trusted_at: number }>()
    .execute();
}

/** Ends the trust in the application. */
export async function removeTrust(tx: Writer, application: ApplicationsTable, now: number): Promise<void> {
  await updateApplication(tx, application.uid, {
    ...NO_TRUST,
    updated_at: computeUpdateTime(now, application),
  });
}
