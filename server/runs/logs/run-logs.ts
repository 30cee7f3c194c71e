/** Logs of a run: whole after its end, in pages while it runs. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { LIVE_LOG_LINES_PER_PAGE } from '@switchyard/contract/limits.ts';
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { Content, Contents } from '../../blobs/contents.ts';
import { FILE_CHUNK_BYTES } from '../../blobs/hashed-file.ts';
import { formatRfc3339Micros } from '../../clock.ts';
import type { Reader } from '../../database/database.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { RawResponse } from '../../http/handlers/handler.ts';
import { formatJson } from '../../http/send-response.ts';
import { findEnsembleDefinition } from '../store/ensemble-runs.ts';
import { findLiveLogSnapshot, LIVE_LOG_CHUNKS_MAX, type LiveLogSnapshot } from '../store/log-chunks.ts';
import { readEnsembleLogPage } from './ensemble-log.ts';
import type { LogPollLimiter } from './log-poll-limiter.ts';
import type { StoredLogLine } from './log-writer.ts';

/** Where more lines wait than a page holds, nobody waits for new ones. */
const MORE_AFTER_SECONDS = 1;

/**
 * The lines after `since`; undefined when the account has no such run. A terminal status is handed out only with or after
 * the last line: while more lines wait than a page holds it is withheld, because clients stop at a terminal one.
 */
export async function readLiveLog(
  db: Reader,
  run: { account: AccountId; application: ApplicationId; id: RunId },
  since: string | undefined,
  pace: LogPollLimiter,
  member: string,
): Promise<LiveLog | undefined> {
  const after = readPlace(since);
  const followed = await findLiveLogSnapshot(db, { ...run, after: after ?? 0 });
  if (!followed) return undefined;
  const page =
    followed.runType === 'ensemble' ? await pageOfEnsemble(db, run.id, since) : pageOf(followed, after);
  if (!page)
    throw badRequest(`since is ${quoteValue(since)}; it must be the next_page_token of the call before.`);
  const { status } = followed;
  const shownStatus = isTerminal(status) && !page.complete ? 'running' : status;
  return {
    items: page.items,
    ...(page.token === null ? {} : { next_page_token: page.token }),
    status_v2: shownStatus,
    next_available_in_seconds: isTerminal(shownStatus)
      ? 0
      : page.complete
        ? pace.nextPollSeconds(member)
        : MORE_AFTER_SECONDS,
  };
}

interface LogPage {
  items: LiveLog['items'];
  token: string | null;
  /** Whether these are all the lines there are now. */
  complete: boolean;
}

function pageOf({ chunks }: LiveLogSnapshot, after: number | null): LogPage | null {
  if (after === null) return null;
  const items: LiveLog['items'] = [];
  let place = after;
  for (const chunk of chunks) {
    if (items.length >= LIVE_LOG_LINES_PER_PAGE) break;
    for (const [micros, text] of JSON.parse(chunk.lines) as StoredLogLine[])
      items.push({ timestamp: formatRfc3339Micros(micros), log: text });
    place = chunk.seq;
  }
  const complete = place === (chunks.at(-1)?.seq ?? after) && chunks.length < LIVE_LOG_CHUNKS_MAX;
  return { items, token: place > 0 ? String(place) : null, complete };
}

async function pageOfEnsemble(db: Reader, id: RunId, since: string | undefined): Promise<LogPage | null> {
  const definition = await findEnsembleDefinition(db, id);
  const page = await readEnsembleLogPage(db, { id, ensemble: definition }, since);
  if (!page) return null;
  const items = page.lines.map(({ micros, text }) => ({ timestamp: formatRfc3339Micros(micros), log: text }));
  return { items, token: page.token, complete: page.isComplete };
}

const STREAMED_BYTES_MIN = 1024 * 1024;

/** The answer with the whole log. A long one is turned into JSON piece by piece, so that nobody waits for it. */
export async function buildLogResponse(contents: Contents, contentId: string | null): Promise<RawResponse> {
  const contentType = 'application/json; charset=utf-8';
  const content = contentId === null ? undefined : await contents.find(contentId);
  if (content && content.bytes >= STREAMED_BYTES_MIN)
    return {
      status: 200,
      raw: Readable.from(inJson(content), { objectMode: false }),
      contentType,
      // A piece, and its text twice: escapes make it longer.
      memoryBytes: 5 * FILE_CHUNK_BYTES,
    };
  const text = content ? await buffer(await content.open()) : Buffer.alloc(0);
  return { status: 200, raw: formatJson({ log: text.toString('utf8') }), contentType };
}

async function* inJson(log: Content): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  yield '{"log":"';
  for await (const chunk of await log.open())
    yield JSON.stringify(decoder.decode(chunk as Buffer, { stream: true })).slice(1, -1);
  yield `${JSON.stringify(decoder.decode()).slice(1, -1)}"}\n`;
}

/** null for what is no place. */
function readPlace(since: string | undefined): number | null {
  if (since === undefined || since === '') return 0;
  const place = Number(since);
  return /^\d{1,15}$/.test(since) && Number.isSafeInteger(place) ? place : null;
}
