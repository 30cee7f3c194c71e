/**
 * Forwards changes of runs to a program on this machine. The server cannot deliver to a machine behind a firewall. So the
 * command follows the stream of the account, and signs and sends the same bodies itself.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunChange } from '@switchyard/contract/account/account-streams.ts';
import {
  createSignatureHeaders,
  WEBHOOK_SECRET_PREFIX,
} from '@switchyard/contract/account/proofs/webhook-signature.ts';
import { RunInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { API_VERSION, WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import { readEvents } from '@switchyard/contract/read-events.ts';
import { isTerminal, toStatusV1 } from '@switchyard/contract/states.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';

const SECRET_BYTES = 32;
const RECONNECT_MS = 1000;

/** Forwards until the command is interrupted. */
export async function listen(session: Session, target: string, webhook: string | undefined): Promise<void> {
  const client = session.connect();
  const { signal } = session.terminal;
  const secret = webhook === undefined ? createSecret() : await fetchSecret(client, webhook);
  if (webhook === undefined) session.terminal.err.write(`Signing secret of this session: ${secret}\n`);
  let sequence = 0;
  try {
    const onConnect = (): void => {
      session.terminal.err.write(`Listening. Events go to ${target}\n`);
    };
    for await (const change of followChanges(client, signal, onConnect)) {
      const { app } = session.options;
      if (app !== undefined && change.application_id !== app) continue;
      sequence += 1;
      const body = JSON.stringify(await buildEvent(client, change, sequence));
      printDelivery(session, change, await deliver(target, body, { secret, signal }));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function createSecret(): string {
  return WEBHOOK_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

async function fetchSecret(client: Client, webhook_id: string): Promise<string> {
  return (await client.call('getWebhookSecret', { params: { webhook_id } })).body.secret;
}

/** Yields each change of a run. Continues after the last event when the server ends the stream, as it does from time to time. */
async function* followChanges(
  client: Client,
  signal: AbortSignal,
  onConnect: () => void,
): AsyncGenerator<RunChange> {
  for (let last = ''; ; ) {
    try {
      const headers: Record<string, string> = last === '' ? {} : { 'last-event-id': last };
      for await (const event of readEvents(await client.open('streamAccountEvents', { headers, signal }))) {
        // The first event says from where on changes follow.
        if (last === '') onConnect();
        last = event.id || last;
        if (event.event !== 'runs') continue;
        const { changes }: { changes: RunChange[] } = JSON.parse(event.data);
        yield* changes;
      }
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (signal.aborted || isRefused) throw error;
    }
    await wait(RECONNECT_MS, undefined, { signal });
  }
}

/** Returns the event that a webhook of the server would get. A run that is gone has its ids and statuses alone. */
async function buildEvent(client: Client, change: RunChange, sequence: number): Promise<object> {
  const { application_id, run_id, status_v2, at } = change;
  const then = { status: toStatusV1(status_v2), status_v2 };
  return {
    event_type: 'run.status',
    api_version: API_VERSION,
    event_id: `event-${randomUUID()}`,
    created_at: at,
    sequence,
    data: { id: run_id, application_id, ...(await readRun(client, change)), ...then },
  };
}

async function readRun(client: Client, { application_id, run_id, status_v2 }: RunChange): Promise<object> {
  const params = { application_id, run_id };
  const found = await findOrNone(() => client.call('getRunMetadata', { params }));
  if (!found) return {};
  const known = Object.entries(found.body).filter(([name]) => name in RunInfo.properties);
  const info = Object.fromEntries(known);
  if (isTerminal(status_v2)) return info;
  // Statistics and metrics count once the run has ended.
  const { metrics: _, ...rest } = info;
  return { ...rest, statistics: { status: 'none', error: '', indicators: [] } };
}

interface Delivery {
  /** The status of the response, or the error of the connection. */
  result: number | string;
  durationMs: number;
}

async function deliver(
  target: string,
  body: string,
  { secret, signal }: { secret: string; signal: AbortSignal },
): Promise<Delivery> {
  const { event_id: id }: { event_id: string } = JSON.parse(body);
  const startedAt = performance.now();
  const end = (result: number | string): Delivery => ({ result, durationMs: performance.now() - startedAt });
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...createSignatureHeaders({ id, at: Date.now(), body, secrets: [secret] }),
        'content-type': 'application/json',
        'user-agent': `Switchyard/${API_VERSION}`,
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return end(response.status);
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return end(cause instanceof Error ? cause.message : String(cause));
  }
}

function printDelivery(session: Session, change: RunChange, { result, durationMs }: Delivery): void {
  const { terminal, output } = session;
  const isGood = typeof result === 'number' && result >= 200 && result < 300;
  const { run_id, application_id, status_v2 } = change;
  if (output.form === 'json')
    output.printJson(
      { run_id, application_id, status_v2, result, duration_ms: Math.round(durationMs) },
      { isLine: true },
    );
  else if (output.form === 'quiet') terminal.out.write(`${run_id}\n`);
  else
    terminal.out.write(
      `${change.at}  ${cleanLine(application_id)}  ${run_id}  ${status_v2.padEnd(9)}  ${output.style(
        isGood ? 'good' : 'bad',
        cleanLine(String(result)),
      )}  ${Math.round(durationMs)} ms\n`,
    );
}
