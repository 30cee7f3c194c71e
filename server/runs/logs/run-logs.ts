/** Reads the log of a run: all of it after its end, and in pages at any time. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { LIVE_LOG_LINES_PER_PAGE, LIVE_LOG_PAGE_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { parseLogLines } from '@switchyard/worker/log/log-batch.ts';
import type { Content, Contents } from '../../platform/blobs/contents.ts';
import { FILE_CHUNK_BYTES } from '../../platform/blobs/hashed-file.ts';
import { createMicrosFormatter } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { RawResponse } from '../../platform/http/handlers/handler.ts';
import { formatJson } from '../../platform/http/send-response.ts';
import { findEnsembleDefinition } from '../store/ensemble-runs.ts';
import { findLiveLogSnapshot, type LiveLogSnapshot } from '../store/log-chunks.ts';
import { readEnsembleLogPage } from './ensemble-log.ts';

/** The maximum number of chunks in one response with live logs. */
const LIVE_LOG_CHUNKS_MAX = 20;
/** The delay before the next page when more lines are stored than fit on one. */
const NEXT_PAGE_SECONDS = 1;

interface LogRequest {
  account: AccountId;
  application: ApplicationId;
  id: RunId;
  /** The token of the page before; undefined or empty for the first page. */
  since: string | undefined;
  /** The maximum number of stored chunks on the page, of at most 256 KiB each. */
  chunksMax?: number;
}

/** New lines of a run, and its status at the same moment. */
export interface LogPage {
  status: RunStatusV2;
  items: LiveLog['items'];
  /** The token of this page; null before the first line. */
  token: string | null;
  /** True if no more lines are stored now. With a terminal status, the log is complete. */
  isComplete: boolean;
}

/** Returns the next page of a log; undefined when the account has no such run, and null for an invalid token. */
export async function readLogPage(
  db: Reader,
  { since, chunksMax = LIVE_LOG_CHUNKS_MAX, ...run }: LogRequest,
): Promise<LogPage | undefined | null> {
  const after = parseSequence(since);
  const snapshot = await findLiveLogSnapshot(db, { ...run, after: after ?? 0, limit: chunksMax });
  if (!snapshot) return undefined;
  const page =
    snapshot.runType === 'ensemble'
      ? await readEnsemblePage(db, run.id, since)
      : formatPage(snapshot, after, chunksMax);
  return page && { ...page, status: snapshot.status };
}

/**
 * Returns the lines after `since`; undefined when the account has no such run. Throws a 400 for an invalid token.
 * `schedulePoll` returns the seconds after which the follower polls again.
 *
 * Invariant: only a page with the last line has a terminal status, because clients stop at such a status.
 */
export async function readLiveLog(
  db: Reader,
  request: LogRequest,
  schedulePoll: () => number,
): Promise<LiveLog | undefined> {
  const page = await readLogPage(db, request);
  if (page === undefined) return undefined;
  if (page === null)
    throw badRequest(
      `since is ${quoteValue(request.since)}; it must be the next_page_token of the call before.`,
    );
  const status = isTerminal(page.status) && !page.isComplete ? 'running' : page.status;
  return {
    items: page.items,
    ...(page.token === null ? {} : { next_page_token: page.token }),
    status_v2: status,
    next_available_in_seconds: isTerminal(status) ? 0 : page.isComplete ? schedulePoll() : NEXT_PAGE_SECONDS,
  };
}

type Lines = Omit<LogPage, 'status'>;

function formatPage({ chunks }: LiveLogSnapshot, after: number | null, chunksMax: number): Lines | null {
  if (after === null) return null;
  const items: LiveLog['items'] = [];
  const format = createMicrosFormatter();
  let lastSeq = after;
  let chars = 0;
  for (const chunk of chunks) {
    if (items.length >= LIVE_LOG_LINES_PER_PAGE || chars >= LIVE_LOG_PAGE_CHARS_MAX) break;
    for (const [micros, text] of parseLogLines(chunk.lines, `log_chunks.lines of seq ${chunk.seq}`)) {
      items.push({ timestamp: format(micros), log: text });
      chars += text.length;
    }
    lastSeq = chunk.seq;
  }
  const isComplete = lastSeq === (chunks.at(-1)?.seq ?? after) && chunks.length < chunksMax;
  return { items, token: lastSeq > 0 ? String(lastSeq) : null, isComplete };
}

async function readEnsemblePage(db: Reader, id: RunId, since: string | undefined): Promise<Lines | null> {
  const definition = await findEnsembleDefinition(db, id);
  const page = await readEnsembleLogPage(db, { id, ensemble: definition }, since);
  if (!page) return null;
  const format = createMicrosFormatter();
  const items = page.lines.map(({ micros, text }) => ({ timestamp: format(micros), log: text }));
  return { items, token: page.token, isComplete: page.isComplete };
}

const STREAMED_BYTES_MIN = 1024 * 1024;

/** Builds the response with the whole log. Converts a large one to JSON piece by piece, so that it delays no other request. */
export async function buildLogResponse(contents: Contents, contentId: string | null): Promise<RawResponse> {
  const contentType = 'application/json; charset=utf-8';
  const content = contentId === null ? undefined : await contents.find(contentId);
  if (content && content.bytes >= STREAMED_BYTES_MIN)
    return {
      status: 200,
      raw: Readable.from(streamAsJson(content), { objectMode: false }),
      contentType,
      // A piece in bytes and its text in UTF-16, which escapes can double.
      memoryBytes: 5 * FILE_CHUNK_BYTES,
    };
  const text = content ? await buffer(await content.open()) : Buffer.alloc(0);
  return { status: 200, raw: formatJson({ log: text.toString('utf8') }), contentType };
}

async function* streamAsJson(log: Content): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  yield '{"log":"';
  for await (const chunk of await log.open())
    yield JSON.stringify(decoder.decode(chunk, { stream: true })).slice(1, -1);
  yield `${JSON.stringify(decoder.decode()).slice(1, -1)}"}\n`;
}

/** Returns the chunk number in the token; 0 without a token, null for an invalid one. */
function parseSequence(since: string | undefined): number | null {
  if (since === undefined || since === '') return 0;
  const seq = Number(since);
  return /^\d{1,15}$/.test(since) && Number.isSafeInteger(seq) ? seq : null;
}
