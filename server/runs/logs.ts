/** Logs of a run: whole after its end, in pages while it runs. */
import type { RunId } from '@switchyard/contract/ids.ts';
import { LIVE_LOG_LINES_PER_PAGE } from '@switchyard/contract/limits.ts';
import type { LiveLog } from '@switchyard/contract/run-logs.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { rfc3339Micros } from '../clock.ts';
import type { Reader } from '../database/database.ts';
import { badRequest, shown } from '../http/problem.ts';
import type { StoredLine } from './log-writer.ts';
import { listLogChunks } from './store.ts';

const CHUNKS_READ = 20;
const ASK_AGAIN_SECONDS = 1;

/**
 * The lines after `since`. The status must be the one read before the lines: then a terminal one is handed out only with
 * or after the last line. While more lines wait than a page holds, the status is withheld, because clients stop at a
 * terminal one.
 */
export async function liveLog(
  db: Reader,
  id: RunId,
  status: RunStatusV2,
  since: string | undefined,
): Promise<LiveLog> {
  const after = readPlace(since);
  const chunks = await listLogChunks(db, id, after, CHUNKS_READ);
  const items: LiveLog['items'] = [];
  let place = after;
  for (const chunk of chunks) {
    if (items.length >= LIVE_LOG_LINES_PER_PAGE) break;
    for (const [micros, text] of JSON.parse(chunk.lines) as StoredLine[])
      items.push({ timestamp: rfc3339Micros(micros), log: text });
    place = chunk.seq;
  }
  const complete = place === (chunks.at(-1)?.seq ?? after) && chunks.length < CHUNKS_READ;
  const shownStatus = isTerminal(status) && !complete ? 'running' : status;
  return {
    items,
    ...(place > 0 ? { next_page_token: String(place) } : {}),
    status_v2: shownStatus,
    next_available_in_seconds: isTerminal(shownStatus) ? 0 : ASK_AGAIN_SECONDS,
  };
}

function readPlace(since: string | undefined): number {
  if (since === undefined || since === '') return 0;
  const place = Number(since);
  if (!/^\d{1,15}$/.test(since) || !Number.isSafeInteger(place)) {
    throw badRequest(`since is ${shown(since)}; it must be the next_page_token of the call before.`);
  }
  return place;
}
