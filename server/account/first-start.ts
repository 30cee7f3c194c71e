/** The first start: an account and a root key, whose token is shown once and kept in `root-token` in the data folder. */
import { join } from 'node:path';
import type { AccountId, KeyId } from '@switchyard/contract/ids.ts';
import type { Clock } from '../clock.ts';
import { type Database, skipsLocked } from '../database/database.ts';
import { makeId, type Random } from '../random.ts';
import { writeDurably } from './master-key.ts';
import { insertAccount, insertKey, isEmpty, lockAccounts } from './store.ts';
import type { Tokens } from './tokens.ts';

export interface FirstStart {
  token: string;
  path: string;
}

/**
 * null when there is an account already. Of several servers that start at once on one database one does it. The file is
 * written before the key exists, so that no start locks anybody out.
 */
export async function firstStart(parts: {
  database: Database;
  tokens: Tokens;
  clock: Clock;
  random: Random;
  dataFolder: string;
}): Promise<FirstStart | null> {
  const { database, tokens, clock, random } = parts;
  if (!(await isEmpty(database.read))) return null;
  const now = clock.now();
  const account = { id: makeId<AccountId>(random, 'account'), name: 'Main account', created_at: now };
  const key = {
    id: makeId<KeyId>(random, 'key'),
    account_id: account.id,
    name: 'root',
    role: 'root' as const,
    email: 'root@localhost',
    created_by: null,
    created_at: now,
    last_used_at: null,
  };
  const token = await tokens.sign({ key: key.id, account: account.id, role: key.role });
  const path = join(parts.dataFolder, 'root-token');
  return database.transact(async (tx) => {
    if (skipsLocked(database)) await lockAccounts(tx);
    if (!(await isEmpty(tx))) return null;
    await insertAccount(tx, account);
    await insertKey(tx, key);
    await writeDurably(path, `${token}\n`);
    return { token, path };
  });
}
