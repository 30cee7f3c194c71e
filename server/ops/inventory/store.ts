/**
 * Statements on the inventory of a member. Things name their maker by the address as it was written at that time, so
 * addresses are compared in normal form here, and not by the database.
 */
import type { AccountId, ApplicationId, RunId, WorkerTokenId } from '@switchyard/contract/schemas/ids.ts';
import type { Author } from '../../accounts/account/access-changes.ts';
import { normalizeEmail } from '../../accounts/account/schema.ts';
import { listTrustedApplications, type TrustedApplication } from '../../apps/applications/html-trust.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import type { WorkerTokensTable } from '../../runs/workers/schema.ts';
import { listWorkerTokens } from '../../runs/workers/worker-tokens.ts';
import type { WebhooksTable } from '../webhooks/schema.ts';

type Made = { created_by: string; created_by_key: string | null };

/** Returns true for a thing of the author. */
function isMadeBy({ owner, keys }: Author): (made: Made) => boolean {
  const ids = new Set<string>(keys);
  return ({ created_by, created_by_key }) =>
    (owner !== null && normalizeEmail(created_by) === owner) ||
    (created_by_key !== null && ids.has(created_by_key));
}

/** Lists the worker tokens of the author, newest first. An account has at most a hundred. */
export async function listMadeTokens(
  db: Reader,
  author: Author,
): Promise<(WorkerTokensTable & { workers: number })[]> {
  return (await listWorkerTokens(db, author.account)).filter(isMadeBy(author));
}

/** A worker token of a subscriber that an author allowed for an app of the marketplace. */
export interface Allowance {
  subscription_id: string;
  worker_token_id: WorkerTokenId;
  /** Id of the app in the marketplace, and its title. */
  app_id: ApplicationId;
  title: string;
  created_at: number;
}

/** Lists the worker tokens of subscribers that the author allowed, newest first. An app has a bounded number of them. */
export async function listAllowances(db: Reader, author: Author): Promise<Allowance[]> {
  const rows = await db
    .selectFrom('allowed_worker_tokens as allowed')
    .innerJoin('marketplace_apps as app', 'app.subscription_id', 'allowed.subscription_id')
    .selectAll('allowed')
    .select(['app.id as app_id', 'app.title'])
    .where('app.partner_id', '=', author.account)
    .orderBy('allowed.created_at', 'desc')
    .orderBy('allowed.worker_token_id', 'desc')
    .execute();
  return rows.filter(isMadeBy(author));
}

/** Lists the applications whose HTML assets the author trusts, last trusted first. */
export async function listMadeTrust(db: Reader, author: Author): Promise<TrustedApplication[]> {
  const isMade = isMadeBy(author);
  const trusted = await listTrustedApplications(db, author.account);
  return trusted.filter((row) =>
    isMade({ created_by: row.html_trusted_by, created_by_key: row.html_trusted_by_key }),
  );
}

/** Lists the enabled webhooks of the author, newest first. An account has at most a hundred webhooks. */
export async function listMadeWebhooks(db: Reader, author: Author): Promise<WebhooksTable[]> {
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('account_id', '=', author.account)
    .where('disabled_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.filter(isMadeBy(author));
}

/** Disables the webhooks. Saving one enables it again. */
export async function disableWebhooks(tx: Writer, uids: readonly string[], now: number): Promise<void> {
  if (uids.length === 0) return;
  await tx
    .updateTable('webhooks')
    .set({ disabled_at: now, updated_at: now })
    .where('uid', 'in', uids)
    .execute();
}

/** A share link with the ids that the audit log needs. */
export interface MadeShare {
  id: string;
  run_id: RunId;
  application_id: ApplicationId;
  run_name: string;
  application_name: string;
  created_at: number;
  expires_at: number;
  last_viewed_at: number | null;
}

/** Lists the working share links of the author, newest first. */
export async function listMadeShares(db: Reader, author: Author, now: number): Promise<MadeShare[]> {
  const emails = await listAuthorAddresses(db, author);
  if (emails.length === 0 && author.keys.length === 0) return [];
  return db
    .selectFrom('run_shares')
    .innerJoin('applications', 'applications.uid', 'run_shares.application_uid')
    .innerJoin('runs', 'runs.id', 'run_shares.run_id')
    .select([
      ...(['run_shares.id', 'run_shares.run_id', 'run_shares.created_at'] as const),
      ...(['run_shares.expires_at', 'run_shares.last_viewed_at'] as const),
      'applications.id as application_id',
      'applications.name as application_name',
      'runs.name as run_name',
    ])
    .where('run_shares.account_id', '=', author.account)
    .where('run_shares.expires_at', '>', now)
    .where((eb) =>
      eb.or([
        ...(emails.length > 0 ? [eb('run_shares.created_by', 'in', emails)] : []),
        ...(author.keys.length > 0 ? [eb('run_shares.created_by_key', 'in', author.keys)] : []),
      ]),
    )
    .orderBy('run_shares.created_at', 'desc')
    .orderBy('run_shares.id', 'desc')
    .execute();
}

/** Returns the spellings of the author's address among the makers of share links. */
async function listAuthorAddresses(db: Reader, { account, owner }: Author): Promise<string[]> {
  if (owner === null) return [];
  const rows = await db
    .selectFrom('run_shares')
    .select('created_by')
    .distinct()
    .where('account_id', '=', account)
    .execute();
  return rows.map((row) => row.created_by).filter((email) => normalizeEmail(email) === owner);
}

/** The parameters of one statement; SQLite and PostgreSQL allow about 32,000. */
const IDS_PER_STATEMENT = 1000;

export async function deleteShares(tx: Writer, ids: readonly string[]): Promise<void> {
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT)
    await tx
      .deleteFrom('run_shares')
      .where('id', 'in', ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
}

/** Counts the open invites that the owner created. */
export async function countInvites(db: Reader, account: AccountId, owner: string): Promise<number> {
  const { count } = await db
    .selectFrom('members')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('account_id', '=', account)
    .where('invited_by', '=', owner)
    .executeTakeFirstOrThrow();
  return Number(count);
}
