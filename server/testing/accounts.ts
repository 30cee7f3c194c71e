/** Accounts and tokens that no operation makes: a second account, and tokens signed by whoever holds the server's key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountId, KeyId } from '@switchyard/contract/ids.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { tokenKey } from '../account/master-key.ts';
import { insertNewAccount, newAccount } from '../account/new-account.ts';
import { Tokens } from '../account/tokens.ts';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../random.ts';
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
  const made = newAccount(systemRandom, Date.now(), {
    name: 'Another account',
    email: 'other@localhost',
    role,
    keyName: 'root of the other',
  });
  await server.running.database.transact((tx) => insertNewAccount(tx, made));
  const { id } = made.account;
  const key = made.key.id;
  const tokens = new Tokens(signingKey(server), systemClock);
  return { id, key, token: await tokens.sign({ key, account: id, role }) };
}
