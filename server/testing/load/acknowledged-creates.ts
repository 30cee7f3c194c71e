/** Clients that create runs through a balancer whose servers come and go, as a client that follows the documentation does. */
import { randomUUID } from 'node:crypto';
import { sleep } from '../host/sleep.ts';
import { type RequestOptions, sendRequest, type TestResponse } from '../http/request.ts';

/** Leaves the worker time to run what is created. */
const PAUSE_MS = 40;

/** A response that a client must not get while one of the servers works. */
const isRefused = ({ status }: TestResponse): boolean => status !== 202;

export interface CreateLoad {
  /** The ids of the runs with a 202. */
  readonly acknowledged: readonly string[];
  /** Responses other than 202, as text. */
  readonly refused: readonly string[];
  /** Requests whose connection broke before a response; each was sent again with its `Idempotency-Key`. */
  readonly repeated: number;
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
  const [acknowledged, refused]: string[][] = [[], []];
  const load = { repeated: 0, isStopping: false };
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
        if (isRefused(response)) refused?.push(`${response.status} ${response.text}`);
        else acknowledged?.push((response.body as { run_id: string }).run_id);
        return;
      } catch {
        load.repeated += 1;
      }
    }
  };
  const running = Array.from({ length: clients }, async () => {
    while (!load.isStopping) {
      await create();
      await sleep(PAUSE_MS);
    }
  });
  return {
    acknowledged: acknowledged ?? [],
    refused: refused ?? [],
    get repeated() {
      return load.repeated;
    },
    async stop() {
      load.isStopping = true;
      await Promise.all(running);
    },
  };
}
