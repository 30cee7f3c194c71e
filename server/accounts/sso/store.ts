/** Statements on identities of single sign-on and on used states. */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { SsoIdentitiesTable } from './schema.ts';

/** A person at an identity provider, as one account knows them. */
type IdentityKey = Pick<SsoIdentitiesTable, 'account_id' | 'issuer' | 'subject'>;

const selectIdentity = prepareStatement((db, { account_id, issuer, subject }: IdentityKey) =>
  db
    .selectFrom('sso_identities')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject),
);

export async function findIdentity(
  db: Reader,
  identity: IdentityKey,
): Promise<SsoIdentitiesTable | undefined> {
  return (await selectIdentity(db, identity))[0];
}

export function findIdentityByOwner(
  tx: Writer,
  { account_id, issuer, owner }: Pick<SsoIdentitiesTable, 'account_id' | 'issuer' | 'owner'>,
): Promise<SsoIdentitiesTable | undefined> {
  return tx
    .selectFrom('sso_identities')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('issuer', '=', issuer)
    .where('owner', '=', owner)
    .executeTakeFirst();
}

/** Stores the identity in place of earlier ones of the same person or the same address. */
export async function replaceIdentity(tx: Writer, identity: SsoIdentitiesTable): Promise<void> {
  await tx
    .deleteFrom('sso_identities')
    .where('account_id', '=', identity.account_id)
    .where('issuer', '=', identity.issuer)
    .where((eb) => eb.or([eb('subject', '=', identity.subject), eb('owner', '=', identity.owner)]))
    .execute();
  await tx.insertInto('sso_identities').values(identity).execute();
}

export async function deleteIdentities(tx: Writer, account: AccountId): Promise<void> {
  await tx.deleteFrom('sso_identities').where('account_id', '=', account).execute();
}

/** Marks the state as used; returns false when it was used before. */
export async function insertUsedState(tx: Writer, stateHash: string, expiresAt: number): Promise<boolean> {
  const result = await tx
    .insertInto('sso_used_states')
    .values({ state_hash: stateHash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Deletes the used states that no sign-in could repeat any more. */
export async function deleteExpiredStates(tx: Writer, now: number): Promise<void> {
  await tx.deleteFrom('sso_used_states').where('expires_at', '<=', now).execute();
}
