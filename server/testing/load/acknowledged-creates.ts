/** Clients that create runs through a balancer whose servers come and go, as a client that follows the documentation does. */
import { randomUUID } from 'node:crypto';
import { sleep } from '../host/sleep.ts';
import { waitUntil } from '../host/wait-until.ts';
import { type RequestOptions, sendRequest } from '../http/request.ts';
import type { ServerCluster } from '../servers/server-cluster.ts';

/** Leaves the worker time to execute the created runs. */
const PAUSE_MS = 40;

export interface CreateLoad {
  /** The ids of the runs with a 202. */
  readonly acknowledged: readonly string[];
  /** Responses other than 202, as text. A client must get none while one of the servers works. */
  readonly refused: readonly string[];
  /** Sends no more requests, and resolves after the last response. */
  stop(): Promise<void>;
}

interface CreateLoadSettings {
  url: string;
  token: string;
  application: string;
  clients: number;
}

/** Starts clients that each create one run after the other. */
export function startCreateLoad({ url, token, application, clients }: CreateLoadSettings): CreateLoad {
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let isStopping = false;
  const create = async (): Promise<void> => {
    const options: RequestOptions = { body: { input: {} }, headers: { 'idempotency-key': randomUUID() } };
    for (;;) {
      try {
        const response = await sendRequest(
          `${url}/v1/applications/${application}/runs`,
          'POST',
          token,
          options,
        );
        if (response.status !== 202) refused.push(`${response.status} ${response.text}`);
        else acknowledged.push((response.body as { run_id: string }).run_id);
        return;
      } catch {
        // The connection broke before a response. The request is sent again with its `Idempotency-Key`.
      }
    }
  };
  const running = Array.from({ length: clients }, async () => {
    while (!isStopping) {
      await create();
      await sleep(PAUSE_MS);
    }
  });
  return {
    acknowledged,
    refused,
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

/**
 * Waits until no run is queued or running. On a busy machine a queue takes its time, so each run that ends extends the wait.
 */
export async function waitForEmptyQueue({ query }: Pick<ServerCluster, 'query'>): Promise<void> {
  for (let unended = Number.POSITIVE_INFINITY; unended > 0; ) {
    const found = await waitUntil('fewer runs wait or run', async () => {
      const [row] = await query<{ count: number }>(
        "select count(*)::int as count from runs where status in ('queued', 'running')",
      );
      return row && row.count < unended ? row : null;
    });
    unended = found.count;
  }
}

/** Lists the runs that succeeded more than once, and the acknowledged runs that never did. */
export async function listWrongEnds(
  { query }: Pick<ServerCluster, 'query'>,
  acknowledged: readonly string[],
): Promise<{ repeated: string[]; lost: string[] }> {
  const rows = await query<{ run_id: string; ends: number }>(
    "select run_id, count(*)::int as ends from run_events where status = 'succeeded' group by run_id",
  );
  const ended = new Set(rows.map(({ run_id }) => run_id));
  return {
    repeated: rows.filter(({ ends }) => ends !== 1).map(({ run_id }) => run_id),
    lost: acknowledged.filter((run) => !ended.has(run)),
  };
}
