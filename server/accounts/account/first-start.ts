/**
 * The first start creates an account with a member and a root key. The server prints the token of the key once and stores it
 * in the file `root-token` of the data folder.
 */
import { join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { writeFileDurably } from '../../platform/master-key.ts';
import type { Random } from '../../platform/random.ts';
import { systemEntry } from '../audit/entry.ts';
import { insertEntry } from '../audit/store.ts';
import { buildNewAccount, insertNewAccount } from './new-account.ts';
import { hasNoAccounts, lockAccountsTable } from './store.ts';
import type { Tokens } from './tokens.ts';

/** The result of the first start, which the server prints. */
export interface FirstStart {
  /** The token of the root key. */
  token: string;
  /** The file that stores the token. */
  path: string;
}

/**
 * Creates the first account; returns null when an account exists. Of several servers that start at the same time on one
 * database, one creates it. The file is written before the key is committed: a crash in between never leaves a root key
 * without its token.
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
  const created = buildNewAccount(random, now, {
    name: 'Main account',
    email: 'root@localhost',
    role: 'root',
    keyName: 'root',
  });
  const { account, member, key } = created;
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
    await insertNewAccount(tx, created);
    await insertEntry(tx, entry);
    await writeFileDurably(path, `${token}\n`);
    return { token, path };
  });
}
