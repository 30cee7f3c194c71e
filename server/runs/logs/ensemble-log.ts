/**
 * The log of an ensemble run: the lines of its child runs, merged by time, each with its run group and run id in front.
 * Live responses are read from the stored chunks of the child runs. The finished log is merged once, when the ensemble
 * ends, because the chunks, which alone have times, are deleted after 24 hours.
 */
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import {
  LIVE_LOG_LINES_PER_PAGE,
  LIVE_LOG_PAGE_CHARS_MAX,
  LIVE_LOG_RETENTION_MS,
  LOG_BYTES_MAX,
} from '@switchyard/contract/limits.ts';
import { CHUNKS_PER_CLAIM, parseLogLines } from '@switchyard/worker/log/log-batch.ts';
import PQueue from 'p-queue';
import type { Contents, PreparedContent } from '../../platform/blobs/contents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { errorMessage } from '../../platform/log.ts';
import { parseEnsemble, parseLabels } from '../run-columns.ts';
import { type LoggedChildRun, listLoggedChildRuns } from '../store/ensemble-runs.ts';
import { type LogChunkKey, listNextLogChunks, readLogChunks } from '../store/log-chunks.ts';
import type { RunsTable } from '../store/schema.ts';

/** The chunks in memory during one step of a merge, of at most 256 KiB each. */
const CHUNKS_PER_STEP = 20;
/** Characters of lines that wait for older ones; above it the oldest lines are written out of order. */
const PENDING_CHARS_MAX = 8 * 1024 * 1024;
/** Chunks of a child run that started this long ago may be deleted while they are merged. */
const CHUNKS_RELIABLE_MS = LIVE_LOG_RETENTION_MS - 60 * 60 * 1000;

type EnsembleRun = Pick<RunsTable, 'id' | 'ensemble'>;

/** A child run at its position in the definition of the ensemble. */
interface Source {
  run: LoggedChildRun;
  position: number;
  prefix: string;
}

/** Lists the started child runs in the order of run groups and repetitions; `requested` is the number in the definition. */
async function listSources(
  db: Reader,
  parent: EnsembleRun,
): Promise<{ sources: Source[]; requested: number }> {
  const run_groups = parseEnsemble(parent)?.run_groups ?? [];
  const firstPositions = new Map<string, number>();
  let requested = 0;
  for (const { id, repetitions } of run_groups) {
    firstPositions.set(id, requested);
    requested += repetitions;
  }
  const sources = (await listLoggedChildRuns(db, parent.id)).map((run): Source => {
    const { run_group_id = '', repetition = 0 } = parseLabels(run);
    const position = (firstPositions.get(run_group_id) ?? 0) + repetition;
    return { run, position, prefix: `${run_group_id}/${run.id} | ` };
  });
  return { sources: sources.sort((one, other) => one.position - other.position), requested };
}

/** The sequence number of the last read chunk of each child run, by position; 0 for none. */
type ChunkCursors = number[];

interface Step {
  lines: { micros: number; text: string; position: number }[];
  /** The time in microseconds before which no unread line is; infinite when all lines are read. */
  horizon: number;
}

/**
 * Reads the oldest chunks after the cursors and advances the cursors. Stops after `linesMax` lines or `charsMax` characters,
 * at the end of a chunk. Returns the lines in the order of time.
 */
async function readStep(
  db: Reader,
  sources: readonly Source[],
  cursors: ChunkCursors,
  { linesMax, charsMax }: { linesMax: number; charsMax: number },
): Promise<Step> {
  const keys = await listNextChunks(db, sources, cursors);
  const batch = keys.chunks.slice(0, CHUNKS_PER_STEP);
  const chunks = await readLogChunks(
    db,
    batch.map(({ chunk }) => chunk),
  );
  const lines: Step['lines'] = [];
  let chars = 0;
  let horizon = Math.min(keys.horizon, keys.chunks[CHUNKS_PER_STEP]?.at ?? Number.POSITIVE_INFINITY);
  for (const { source, chunk, at } of batch) {
    if (lines.length >= linesMax || chars >= charsMax) {
      horizon = Math.min(horizon, at);
      break;
    }
    cursors[source.position] = chunk.seq;
    const stored = chunks.get(formatChunkKey(chunk)) ?? '[]';
    for (const [micros, text] of parseLogLines(stored, `log_chunks.lines of seq ${chunk.seq}`)) {
      lines.push({ micros, text: source.prefix + text, position: source.position });
      chars += source.prefix.length + text.length;
    }
  }
  lines.sort((one, other) => one.micros - other.micros || one.position - other.position);
  return { lines, horizon: horizon * 1000 };
}

interface NextChunk {
  source: Source;
  chunk: LogChunkKey;
  /** Time of the first line in milliseconds; never before that of the previous chunk, even if a worker's clock went back. */
  at: number;
}

/** Lists the next chunks of every child run, oldest first. `horizon` is the time in milliseconds before which no other begins. */
async function listNextChunks(
  db: Reader,
  sources: readonly Source[],
  cursors: ChunkCursors,
): Promise<{ chunks: NextChunk[]; horizon: number }> {
  const next = await listNextLogChunks(
    db,
    sources.map(({ run, position }) => ({ run_id: run.id, after: cursors[position] ?? 0 })),
    CHUNKS_PER_STEP,
  );
  const bySource = new Map(sources.map((source) => [source.run.id, source]));
  const latest = new Map<string, { at: number; seq: number; last: number }>();
  const chunks: NextChunk[] = [];
  for (const chunk of next) {
    const source = bySource.get(chunk.run_id);
    if (!source) continue;
    const at = Math.max(chunk.at, latest.get(chunk.run_id)?.at ?? 0);
    latest.set(chunk.run_id, { at, seq: chunk.seq, last: chunk.last });
    chunks.push({ source, chunk, at });
  }
  chunks.sort(
    (one, other) =>
      one.at - other.at || one.source.position - other.source.position || one.chunk.seq - other.chunk.seq,
  );
  const unlisted = [...latest.values()].filter(({ seq, last }) => seq < last).map(({ at }) => at);
  return { chunks, horizon: Math.min(Number.POSITIVE_INFINITY, ...unlisted) };
}

const formatChunkKey = ({ run_id, seq }: Pick<LogChunkKey, 'run_id' | 'seq'>): string => `${run_id} ${seq}`;

export interface EnsembleLogPage {
  lines: { micros: number; text: string }[];
  token: string;
  /** True if no more lines are stored now. */
  isComplete: boolean;
}

/**
 * Returns the lines after the token, in the order of time within the page; null for an invalid token. The caller reads the
 * status of the ensemble first: it ends after its child runs, so a complete page of an ended one has the last line.
 */
export async function readEnsembleLogPage(
  db: Reader,
  parent: EnsembleRun,
  since: string | undefined,
): Promise<EnsembleLogPage | null> {
  const { sources, requested } = await listSources(db, parent);
  const cursors = parseToken(since, requested);
  if (cursors === null) return null;
  const { lines, horizon } = await readStep(db, sources, cursors, {
    linesMax: LIVE_LOG_LINES_PER_PAGE,
    charsMax: LIVE_LOG_PAGE_CHARS_MAX,
  });
  return { lines, token: formatToken(cursors), isComplete: horizon === Number.POSITIVE_INFINITY };
}

/** Formats the cursors in base 36: about seven characters for each child run. */
function formatToken(cursors: ChunkCursors): string {
  return `e${cursors.map((seq) => (seq === 0 ? '' : seq.toString(36))).join('.')}`;
}

function parseToken(since: string | undefined, requested: number): ChunkCursors | null {
  if (since === undefined || since === '') return Array.from({ length: requested }, () => 0);
  if (!/^e(?:[0-9a-z]{0,10}\.)*[0-9a-z]{0,10}$/.test(since)) return null;
  const cursors = since
    .slice(1)
    .split('.')
    .map((part) => (part === '' ? 0 : Number.parseInt(part, 36)));
  return cursors.length === requested && cursors.every(Number.isSafeInteger) ? cursors : null;
}

/** Prepares the finished logs of ensembles, one after the other: a merge may take megabytes of memory. */
export class EnsembleLogMerger {
  readonly #parts: { database: Database; contents: Contents; clock: Clock };
  readonly #merges = new PQueue({ concurrency: 1 });

  constructor(parts: { database: Database; contents: Contents; clock: Clock }) {
    this.#parts = parts;
  }

  /** Prepares the log of an ensemble whose child runs have ended; null when they logged nothing. */
  prepare(parent: EnsembleRun): Promise<PreparedContent | null> {
    return this.#merges.add(() => this.#prepare(parent));
  }

  async #prepare(parent: EnsembleRun): Promise<PreparedContent | null> {
    const { database, contents, clock } = this.#parts;
    const parts = mergeLimitedLog({ db: database.read, contents, now: clock.now() }, parent);
    const log = await contents.prepareText(parts);
    return log.bytes === 0 ? null : log;
  }
}

/**
 * Yields the finished log in parts, at most LOG_BYTES_MAX. It has only the last attempt of a child run, like the log of the
 * run itself. The log of a child run that started almost a day ago or earlier is one block, at the time of its start.
 */
async function* mergeLimitedLog(
  { db, contents, now }: { db: Reader; contents: Contents; now: number },
  parent: EnsembleRun,
): AsyncGenerator<string> {
  let bytes = 0;
  for await (const part of mergeLog({ db, contents, now }, parent)) {
    bytes += Buffer.byteLength(part);
    if (bytes > LOG_BYTES_MAX) {
      yield `[log cut after ${LOG_BYTES_MAX} bytes: read the logs of the child runs]\n`;
      return;
    }
    yield part;
  }
}

/** Yields the whole log. Holds lines back until no unread chunk can have an older one. */
async function* mergeLog(
  { db, contents, now }: { db: Reader; contents: Contents; now: number },
  parent: EnsembleRun,
): AsyncGenerator<string> {
  const { sources, requested } = await listSources(db, parent);
  const isOld = ({ run }: Source) =>
    run.log_content_id !== null && (run.initiated_at ?? now) < now - CHUNKS_RELIABLE_MS;
  const old = sources
    .filter(isOld)
    .sort((one, other) => (one.run.initiated_at ?? 0) - (other.run.initiated_at ?? 0));
  const recent = sources.filter((source) => !isOld(source));
  const cursors: ChunkCursors = Array.from({ length: requested }, () => 0);
  for (const { run, position } of recent) cursors[position] = run.fence * CHUNKS_PER_CLAIM;
  const blocksBefore = async function* (micros: number): AsyncGenerator<string> {
    while (old[0] && (old[0].run.initiated_at ?? 0) * 1000 <= micros) {
      const source = old.shift();
      if (source) yield* readBlock(contents, source);
    }
  };
  let pending: Step['lines'] = [];
  for (;;) {
    const { lines, horizon } = await readStep(db, recent, cursors, {
      linesMax: Number.POSITIVE_INFINITY,
      charsMax: Number.POSITIVE_INFINITY,
    });
    pending.push(...lines);
    pending.sort((one, other) => one.micros - other.micros || one.position - other.position);
    let chars = pending.reduce((sum, { text }) => sum + text.length, 0);
    let released = 0;
    for (const { micros, text } of pending) {
      if (micros >= horizon && chars <= PENDING_CHARS_MAX) break;
      yield* blocksBefore(micros);
      yield `${text}\n`;
      chars -= text.length;
      released += 1;
    }
    pending = pending.slice(released);
    if (horizon === Number.POSITIVE_INFINITY) break;
    await setImmediate();
  }
  yield* blocksBefore(Number.POSITIVE_INFINITY);
}

async function* readBlock(contents: Contents, { run, prefix }: Source): AsyncGenerator<string> {
  const content = run.log_content_id === null ? undefined : await contents.find(run.log_content_id);
  if (!content) return;
  try {
    const input = await content.open();
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      yield `${prefix}${line}\n`;
  } catch (error) {
    // An unreadable log of a child run must not keep the ensemble from ending.
    yield `${prefix}[log not readable: ${errorMessage(error)}]\n`;
  }
}
