/**
 * Forwards changes of runs and experiments to a program on this machine. The server cannot deliver to a machine behind a
 * firewall. So the command follows the stream of the account, and signs and sends the same bodies itself.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ExperimentChange, RunChange } from '@switchyard/contract/account/account-streams.ts';
import {
  createSignatureHeaders,
  WEBHOOK_SECRET_PREFIX,
} from '@switchyard/contract/account/proofs/webhook-signature.ts';
import { ExperimentInfo, RunInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { readState } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { API_VERSION, WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { readEvents } from '@switchyard/contract/read-events.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { isTerminal, toStatusV1 } from '@switchyard/contract/states.ts';
import Type from 'typebox';
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
      const event = await buildEvent(client, change, sequence);
      printDelivery(session, change, await deliver(target, event, { secret, signal }));
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

const parseRunChanges = createJsonParser(Type.Object({ changes: Type.Array(RunChange) }));
const parseExperimentChanges = createJsonParser(Type.Object({ changes: Type.Array(ExperimentChange) }));

function parseChanges({ event, data }: { event: string; data: string }): Change[] {
  if (event === 'runs') {
    const { changes } = parseRunChanges(data, 'The event runs');
    return changes.map((change) => ({ event, ...change }));
  }
  if (event !== 'experiments') return [];
  const { changes } = parseExperimentChanges(data, 'The event experiments');
  return changes.map((change) => ({ event, ...change }));
}

/**
 * Yields each change of a run or an experiment. Continues after the last event when the server ends the stream, as it does
 * from time to time.
 */
async function* followChanges(
  client: Client,
  signal: AbortSignal,
  onConnect: () => void,
): AsyncGenerator<Change> {
  for (let last = ''; ; ) {
    try {
      const headers: Record<string, string> = last === '' ? {} : { 'last-event-id': last };
      for await (const event of readEvents(await client.open('streamAccountEvents', { headers, signal }))) {
        // The first event says from where on changes follow.
        if (last === '') onConnect();
        last = event.id || last;
        yield* parseChanges(event);
      }
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (signal.aborted || isRefused) throw error;
    }
    await wait(RECONNECT_MS, undefined, { signal });
  }
}

interface Delivery {
  /** The status of the response, or the error of the connection. */
  result: number | string;
  durationMs: number;
}

async function deliver(
  target: string,
  event: BuiltEvent,
  { secret, signal }: { secret: string; signal: AbortSignal },
): Promise<Delivery> {
  const body = JSON.stringify(event);
  const { event_id: id } = event;
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

function printDelivery(session: Session, change: Change, { result, durationMs }: Delivery): void {
  const { terminal, output } = session;
  const isGood = typeof result === 'number' && result >= 200 && result < 300;
  const { event, ...fields } = change;
  const { application_id } = change;
  const [id, status] =
    event === 'runs' ? [change.run_id, change.status_v2] : [change.experiment_id, change.status];
  if (output.form === 'json')
    output.printJson({ ...fields, result, duration_ms: Math.round(durationMs) }, { isLine: true });
  else if (output.form === 'quiet') terminal.out.write(`${id}\n`);
  else
    terminal.out.write(
      `${findTime(change)}  ${cleanLine(application_id)}  ${id}  ${status.padEnd(9)}  ${output.style(
        isGood ? 'good' : 'bad',
        cleanLine(String(result)),
      )}  ${formatDuration(durationMs)}\n`,
    );
}

/** A change of a run or of an experiment, as an event of the stream names it. */
type Change = ({ event: 'runs' } & RunChange) | ({ event: 'experiments' } & ExperimentChange);

/** An event, as far as its delivery reads it. */
interface BuiltEvent {
  event_id: string;
}

/** Returns the event. Data of a run or an experiment that is gone are only its ids and statuses. */
async function buildEvent(client: Client, change: Change, sequence: number): Promise<BuiltEvent> {
  const isRun = change.event === 'runs';
  const event = {
    event_type: isRun ? 'run.status' : 'experiment.status',
    api_version: API_VERSION,
    event_id: `event-${randomUUID()}`,
    created_at: findTime(change),
    sequence,
    data: isRun ? await readRun(client, change) : await readExperiment(client, change),
  };
  return event;
}

/** Returns the time of the change of a run; the stream sends changes of experiments at once, and without a time. */
function findTime(change: Change): string {
  return change.event === 'runs' ? change.at : new Date().toISOString();
}

async function readRun(
  client: Client,
  { application_id, run_id, status_v2 }: RunChange,
): Promise<Record<string, unknown>> {
  const params = { application_id, run_id };
  const found = await findOrNone(() => client.call('getRunMetadata', { params }));
  const then = { id: run_id, application_id, status: toStatusV1(status_v2), status_v2 };
  if (!found) return then;
  const info: Record<string, unknown> = { ...pickFields(found.body, RunInfo), ...then };
  if (isTerminal(status_v2)) return info;
  // Statistics and metrics count once the run has ended.
  const { metrics: _, ...rest } = info;
  return { ...rest, statistics: { status: 'none', error: '', indicators: [] } };
}

async function readExperiment(
  client: Client,
  { application_id, experiment_id: id, type, status }: ExperimentChange,
): Promise<object> {
  const found = await findOrNone(() => readState(client, { application: application_id, type, id }));
  return { ...(found && pickFields(found, ExperimentInfo)), id, application_id, type, status };
}

function pickFields(body: object, { properties }: { properties: object }): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in properties));
}
