/** The events that a webhook of the server would get, from the changes that the stream of the account names. */

import { randomUUID } from 'node:crypto';
import type { ExperimentChange, RunChange } from '@switchyard/contract/account/account-streams.ts';
import { ExperimentInfo, RunInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import type { Client } from '@switchyard/contract/client.ts';
import { readState } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import { isTerminal, toStatusV1 } from '@switchyard/contract/states.ts';
import { findOrNone } from '../../errors/find-or-none.ts';

/** A change of a run or of an experiment, as an event of the stream names it. */
export type Change = ({ event: 'runs' } & RunChange) | ({ event: 'experiments' } & ExperimentChange);

/** An event, as far as its delivery reads it. */
export interface BuiltEvent {
  event_id: string;
}

/** Returns the event. Data of a run or an experiment that is gone are its ids and statuses alone. */
export async function buildEvent(client: Client, change: Change, sequence: number): Promise<BuiltEvent> {
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
export function findTime(change: Change): string {
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
