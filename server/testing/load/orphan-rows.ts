/** Checks that nothing is left of deleted applications, webhooks and runs. */
import type { RunQuery } from './invariants.ts';

const COUNT = 'select count(*) as count';

/** Returns violations: rows that refer to a missing application, webhook or run. */
export async function checkOrphanRows(query: RunQuery, deleted: readonly string[]): Promise<string[]> {
  const violations: string[] = [];
  const existing = new Set((await query('select id from applications')).map(({ id }) => String(id)));
  for (const id of deleted)
    if (existing.has(id)) violations.push(`the application ${id} was deleted and its row still exists`);
  const owned = ['runs', 'executables', 'versions', 'instances', 'inputs', 'input_sets', 'ensembles'];
  owned.push('experiments', 'planned_runs', 'secrets_collections', 'uploads', 'run_routes', 'captured_runs');
  const statements = owned.map((table) => [
    `rows of ${table} of a missing application`,
    `${COUNT} from ${table} where application_uid not in (select uid from applications)`,
  ]);
  for (const table of ['webhook_deliveries', 'webhook_conversations'])
    statements.push([
      `rows of ${table} of a missing webhook`,
      `${COUNT} from ${table} where webhook_uid not in (select uid from webhooks)`,
    ]);
  statements.push(
    [
      'webhook events without a delivery or a conversation',
      `${COUNT} from webhook_events where id not in (select event_id from webhook_deliveries)
       and id not in (select event_id from webhook_conversations)`,
    ],
    ['undelivered deliveries', `${COUNT} from webhook_deliveries`],
    ['events without a fan-out', `${COUNT} from run_events where pending = 1`],
    ['registered workers although none runs', `${COUNT} from workers`],
    ['assets of missing runs', `${COUNT} from assets where run_id not in (select id from runs)`],
  );
  for (const [label, statement] of statements) {
    const [row] = await query(statement ?? '');
    if (Number(row?.count) > 0) violations.push(`${row?.count} ${label}`);
  }
  return violations;
}
