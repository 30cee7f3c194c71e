/**
 * Counts and audits the views of share links. A visitor has no token, so nobody limits how often a link is opened. An
 * entry for each view would fill the audit log: only the first view of a link in an hour leaves one.
 *
 * Invariant: nothing is shown before its entry is stored. A view that storage cannot record returns a 503.
 */
import { systemEntry } from '../../accounts/audit/entry.ts';
import { insertEntry } from '../../accounts/audit/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import type { Random } from '../../platform/random.ts';
import type { RunSharesTable } from './schema.ts';
import { claimViewAudit, countView } from './store.ts';

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
}

const AUDIT_INTERVAL_MS = 60 * 60 * 1000;

/** Counts and audits the views of share links. */
export class ShareViews {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Counts a view of the page, and audits the first one in an hour. */
  async count(share: RunSharesTable, address: string): Promise<void> {
    const { database, clock } = this.#parts;
    const isDue = this.#isAuditDue(share);
    const view = async (tx: Writer): Promise<void> => {
      await countView(tx, share.id, clock.now());
      if (isDue) await this.#insertEntry(tx, share, address);
    };
    // A crash may lose a number, but no entry.
    await database.transact(view, { durable: isDue });
  }

  /** Audits the read of a content. A page reads many contents, so it writes only when an entry is due. */
  async auditRead(share: RunSharesTable, address: string): Promise<void> {
    if (this.#isAuditDue(share))
      await this.#parts.database.transact((tx) => this.#insertEntry(tx, share, address));
  }

  #isAuditDue({ audited_at: at }: RunSharesTable): boolean {
    return at === null || this.#parts.clock.now() - at >= AUDIT_INTERVAL_MS;
  }

  /** Inserts the entry, unless another request has audited a view meanwhile. */
  async #insertEntry(tx: Writer, share: RunSharesTable, address: string): Promise<void> {
    const { clock, random } = this.#parts;
    const now = clock.now();
    if (!(await claimViewAudit(tx, share.id, { now, since: now - AUDIT_INTERVAL_MS }))) return;
    const resource = { run_id: share.run_id, share_id: share.id };
    const entry = systemEntry({ random, now }, 'getSharedRun', share.account_id, resource);
    await insertEntry(tx, { ...entry, address });
  }
}
