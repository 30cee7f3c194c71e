/**
 * Creates and deletes applications during the chaos test, each with an executable and runs. Deletion must leave
 * nothing.
 */
import { packFiles } from '../server/testing/fixtures/apps.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';
import { LOAD_APP, type RequestTarget } from '../server/testing/load/run-load.ts';
import { RetryingClient } from './retrying-client.ts';

const RUNS = 4;

/** Creates, uses and deletes applications, one at a time. */
export class ApplicationLoad {
  readonly deleted: string[] = [];
  readonly #target: RequestTarget;
  readonly #client: RetryingClient;
  #stopped = false;

  constructor(target: RequestTarget) {
    this.#target = target;
    this.#client = new RetryingClient(target);
  }

  get rejections(): readonly string[] {
    return this.#client.rejections;
  }

  /** Creates and deletes applications one after the other until the load stops. */
  async createAndDelete(): Promise<void> {
    const archive = await packFiles({
      'app.yaml': 'type: binary\nruntime: shell\nfiles: ["**"]\n',
      ...LOAD_APP,
    });
    for (let count = 0; !this.#stopped; count += 1) {
      const id = `temporary-${count}`;
      await this.#client.retry('POST', '/v1/applications', { id, name: `Application ${id}` });
      // The input is large enough for a blob. A run that is queued at the deletion never ends.
      const input = { n: count, ms: 200, exit: 0, pad: 10, filler: 'x'.repeat(80_000) };
      if (await this.#push(id, archive))
        for (let run = 0; run < RUNS; run += 1)
          await this.#client.retry('POST', `/v1/applications/${id}/runs`, { input });
      await sleep(Math.random() * 2000);
      await this.#client.retry('DELETE', `/v1/applications/${id}`);
      this.deleted.push(id);
      await sleep(Math.random() * 1000);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Returns false if the upload URL had expired, or the server became unavailable in between. */
  async #push(id: string, archive: Uint8Array): Promise<boolean> {
    const path = `/v1/applications/${id}/binary`;
    try {
      const { body } = await this.#target.request('GET', path);
      const { upload_url } = body as { upload_url: string };
      const put = await fetch(upload_url, { method: 'PUT', body: new Uint8Array(archive) });
      if (put.status !== 200) return false;
      const requirements = { executable_type: 'binary', runtime: 'shell' };
      const response = await this.#target.request('PUT', path, { body: { requirements } });
      return response.status === 200;
    } catch {
      return false;
    }
  }
}

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
