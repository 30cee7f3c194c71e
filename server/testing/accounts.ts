/** Accounts and tokens that no operation makes: a second account, and tokens signed by whoever holds the server's key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountId, KeyId } from '@switchyard/contract/ids.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { tokenKey } from '../account/master-key.ts';
import { insertAccount, insertKey } from '../account/store.ts';
import { Tokens } from '../account/tokens.ts';
import { systemClock } from '../clock.ts';
import { makeId, systemRandom } from '../random.ts';
import type { TestServer } from './server.ts';

/** The private key that the server signs its tokens with. */
export function signingKey(server: TestServer) {
  return tokenKey(readFileSync(join(server.data, 'master-key')));
}

/** Another account on the same server, with a key of the role. */
export async function otherAccount(
  server: TestServer,
  role: Role = 'root',
): Promise<{ id: AccountId; key: KeyId; token: string }> {
  const id = makeId<AccountId>(systemRandom, 'account');
  const key = makeId<KeyId>(systemRandom, 'key');
  const created_at = Date.now();
  await server.running.database.transact(async (tx) => {
    await insertAccount(tx, { id, name: 'Another account', created_at });
    await insertKey(tx, {
      id: key,
      account_id: id,
      name: 'root of the other',
      role,
      email: 'other@localhost',
      created_by: null,
      created_at,
      last_used_at: null,
    });
  });
  const tokens = new Tokens(signingKey(server), systemClock);
  return { id, key, token: await tokens.sign({ key, account: id, role }) };
}
