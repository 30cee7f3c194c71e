/** The first start: an account with a member and a root key, whose token is shown once and kept in `root-token` in the data folder. */
import { join } from 'node:path';
import { systemEntry } from '../audit/entry.ts';
import { insertEntry } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Random } from '../random.ts';
import { writeFileDurably } from './master-key.ts';
import { buildNewAccount, insertNewAccount } from './new-account.ts';
import { hasNoAccounts, lockAccountsTable } from './store.ts';
import type { Tokens } from './tokens.ts';

export interface FirstStart {
  token: string;
  path: string;
}

/**
 * null when there is an account already. Of several servers that start at once on one database one does it. The file is
 * written before the key exists, so that no start locks anybody out.
 */
export async function runFirstStart(parts: {
  database: Database;
  tokens: Tokens;
  clock: Clock;
  random: Random;
  dataFolder: string;
}): Promise<FirstStart | null> {
  const { database, tokens, clock, random } = parts;
  if (!(await hasNoAccounts(database.read))) return null;
  const now = clock.now();
  const made = buildNewAccount(random, now, {
    name: 'Main account',
    email: 'root@localhost',
    role: 'root',
    keyName: 'root',
  });
  const { account, member, key } = made;
  const entry = systemEntry({ random, now }, 'firstStart', account.id, {
    account_id: account.id,
    member_id: member.id,
    key_id: key.id,
  });
  const token = await tokens.sign({ key: key.id, account: account.id, role: key.role });
  const path = join(parts.dataFolder, 'root-token');
  return database.transact(async (tx) => {
    await lockAccountsTable(tx);
    if (!(await hasNoAccounts(tx))) return null;
    await insertNewAccount(tx, made);
    await insertEntry(tx, entry);
    await writeFileDurably(path, `${token}\n`);
    return { token, path };
  });
}
