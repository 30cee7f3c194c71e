/** Applications that come and go under torture, each with an executable and runs; of a deleted one nothing may be left. */
import { packFiles } from '../server/testing/fixtures/apps.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';
import { LOAD_APP, type RequestTarget } from '../server/testing/load/run-load.ts';
import { RetryingClient } from './retrying-client.ts';

const RUNS = 4;

export class ApplicationLoad {
  readonly deleted: string[] = [];
  readonly #target: RequestTarget;
  readonly #insisting: RetryingClient;
  #stopped = false;

  constructor(target: RequestTarget) {
    this.#target = target;
    this.#insisting = new RetryingClient(target);
  }

  get rejections(): readonly string[] {
    return this.#insisting.rejections;
  }

  /** One after the other. */
  async createAndDelete(): Promise<void> {
    const archive = await packFiles({
      'app.yaml': 'type: binary\nruntime: shell\nfiles: ["**"]\n',
      ...LOAD_APP,
    });
    for (let count = 0; !this.#stopped; count += 1) {
      const id = `passing-${count}`;
      await this.#insisting.retry('POST', '/v1/applications', { id, name: `Application ${id}` });
      // The input is a blob, and one that waits when its application is deleted has no end.
      const input = { n: count, ms: 200, exit: 0, pad: 10, filler: 'x'.repeat(80_000) };
      if (await this.#push(id, archive))
        for (let run = 0; run < RUNS; run += 1)
          await this.#insisting.retry('POST', `/v1/applications/${id}/runs`, { input });
      await sleep(Math.random() * 2000);
      await this.#insisting.retry('DELETE', `/v1/applications/${id}`);
      this.deleted.push(id);
      await sleep(Math.random() * 1000);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** false when the URL of the upload was over before it was used, or the server went away in between. */
  async #push(id: string, archive: Uint8Array): Promise<boolean> {
    const path = `/v1/applications/${id}/binary`;
    try {
      const { body } = await this.#target.request('GET', path);
      const { upload_url } = body as { upload_url: string };
      const put = await fetch(upload_url, { method: 'PUT', body: new Uint8Array(archive) });
      if (put.status !== 200) return false;
      const requirements = { executable_type: 'binary', runtime: 'shell' };
      const answer = await this.#target.request('PUT', path, { body: { requirements } });
      return answer.status === 200;
    } catch {
      return false;
    }
  }
}

const COUNT = 'select count(*) as count';

/** What names an application, a webhook or a run that is not there. */
export async function checkOrphanRows(query: RunQuery, deleted: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  const there = new Set((await query('select id from applications')).map(({ id }) => String(id)));
  for (const id of deleted)
    if (there.has(id)) wrong.push(`the application ${id} was deleted and its row is there`);
  const owned = ['runs', 'executables', 'versions', 'instances', 'inputs', 'input_sets', 'ensembles'];
  owned.push('experiments', 'planned_runs', 'secrets_collections', 'uploads', 'run_routes', 'captured_runs');
  const statements = owned.map((table) => [
    `rows of ${table} of an application that is gone`,
    `${COUNT} from ${table} where application_uid not in (select uid from applications)`,
  ]);
  for (const table of ['webhook_deliveries', 'webhook_conversations'])
    statements.push([
      `rows of ${table} of a webhook that is gone`,
      `${COUNT} from ${table} where webhook_uid not in (select uid from webhooks)`,
    ]);
  statements.push(
    [
      'events kept for webhooks that nothing names',
      `${COUNT} from webhook_events where id not in (select event_id from webhook_deliveries)
       and id not in (select event_id from webhook_conversations)`,
    ],
    ['deliveries that were never made', `${COUNT} from webhook_deliveries`],
    ['events that nobody was told of', `${COUNT} from run_events where pending = 1`],
    ['workers that are entered though none runs', `${COUNT} from workers`],
    ['assets of runs that are gone', `${COUNT} from assets where run_id not in (select id from runs)`],
  );
  for (const [what, statement] of statements) {
    const [row] = await query(statement ?? '');
    if (Number(row?.count) > 0) wrong.push(`${row?.count} ${what}`);
  }
  return wrong;
}
