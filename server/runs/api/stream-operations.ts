/** The operations that stream events of runs. */
import { EVENT_STREAM } from '@switchyard/contract/client.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import { formatCaller, type OperationHandler } from '../../platform/http/handlers/handler.ts';
import { STREAM_MEMORY_BYTES } from '../../platform/http/streams/event-stream.ts';
import { readUpdate } from '../streams/read-update.ts';
import { invalidCursor, parseCursor } from '../streams/run-cursor.ts';
import { getOwnRun } from './own-run.ts';

export const streamRunEvents: OperationHandler<'streamRunEvents'> = async (
  context,
  { caller, params, headers },
) => {
  const lastEventId = headers['last-event-id']?.toString();
  const cursor = parseCursor(lastEventId);
  const run = { account: caller.account, application: params.application_id, id: params.run_id };
  const next = await readUpdate(context.database.read, run, cursor);
  if (next === null) throw invalidCursor(lastEventId ?? '');
  if (next === undefined) {
    // Throws the 404 for a missing application, or for a missing run.
    await getOwnRun(context, caller, params);
    throw notFound(`There is no run ${quoteValue(params.run_id)}.`);
  }
  if (next.isEnd && next.events.length === 0) return { status: 204 };
  return {
    status: 200,
    raw: context.runStreams.open(formatCaller(caller), run, cursor),
    contentType: EVENT_STREAM,
    memoryBytes: STREAM_MEMORY_BYTES,
  };
};
