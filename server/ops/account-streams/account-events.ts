/** The events of an account's stream, and the ids by which a client continues. Pure. */
import type { RunChange } from '@switchyard/contract/account/account-streams.ts';
import { STREAM_CHANGES_MAX } from '@switchyard/contract/limits.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { ServerEvent } from '../../platform/http/streams/event-stream.ts';
import type { EventPosition, RunChangeRow } from '../../runs/streams/account-changes.ts';

/** Formats a position as an event id: the last number, and the missing ones. */
export function formatPosition({ seq, missing }: EventPosition): string {
  return [seq, ...missing].join('.');
}

/** Parses the Last-Event-ID of a request; null without one. Throws a 400 for an id of no event. */
export function parsePosition(id: string | undefined): EventPosition | null {
  if (id === undefined || id === '') return null;
  if (!/^\d{1,15}(\.\d{1,15}){0,50}$/.test(id))
    throw badRequest(
      `Last-Event-ID is ${quoteValue(id)}; it must be the id of an event of this stream. Leave it out to begin now.`,
    );
  const [seq = 0, ...missing] = id.split('.').map(Number);
  return { seq, missing };
}

/** Returns the event about the rows, with the last change of each run; null rows are too many to list. */
export function createRunsEvent(rows: readonly RunChangeRow[] | null, position: EventPosition): ServerEvent {
  const lastByRun = new Map<string, RunChange>();
  for (const { run, application, status, at } of rows ?? []) {
    lastByRun.delete(run);
    lastByRun.set(run, {
      application_id: application,
      run_id: run,
      status_v2: status,
      at: formatRfc3339(at),
    });
  }
  const isTruncated = rows === null || lastByRun.size > STREAM_CHANGES_MAX;
  return {
    id: formatPosition(position),
    event: 'runs',
    data: { changes: isTruncated ? [] : [...lastByRun.values()], is_truncated: isTruncated },
  };
}
