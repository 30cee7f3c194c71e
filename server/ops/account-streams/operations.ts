/** The operation that streams the changes of an account. */
import { EVENT_STREAM } from '@switchyard/contract/client.ts';
import { formatCaller, type OperationHandler } from '../../platform/http/handlers/handler.ts';
import { STREAM_MEMORY_BYTES } from '../../platform/http/streams/event-stream.ts';
import { parsePosition } from './account-events.ts';

export const streamAccountEvents: OperationHandler<'streamAccountEvents'> = async (
  { accountStreams },
  { caller, headers },
) => {
  const from = parsePosition(headers['last-event-id']?.toString());
  return {
    status: 200,
    raw: await accountStreams.open(formatCaller(caller), caller.account, from),
    contentType: EVENT_STREAM,
    memoryBytes: STREAM_MEMORY_BYTES,
  };
};
