/**
 * The log of an ensemble run: the lines of its child runs, merged by time, each with its run group and run id in front.
 * Live responses are read from the stored chunks of the child runs. The finished log is merged once, when the ensemble
 * ends, because the chunks, which alone have times, are deleted after 24 hours.
 */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  LIVE_LOG_LINES_PER_PAGE,
  LIVE_LOG_RETENTION_MS,
  LOG_BYTES_MAX,
} from '@switchyard/contract/limits.ts';
import type { RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { Contents, PreparedContent } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Reader } from '../../database/database.ts';
import { errorMessage } from '../../log.ts';
import { type LoggedChildRun, listLoggedChildRuns } from '../store/ensemble-runs.ts';
import { parseLabels } from '../store/labels.ts';
import { type LogChunkKey, listNextLogChunks, readLogChunks } from '../store/log-chunks.ts';
import type { RunsTable } from '../store/schema.ts';
import { CHUNKS_PER_CLAIM, type StoredLogLine } from './log-writer.ts';

/** At most 256 KiB each: what one step of a merge holds. */
const CHUNKS_PER_STEP = 20;
/** Lines held back for the sake of their order; beyond it the oldest are released. */
const HELD_CHARS_MAX = 8 * 1024 * 1024;
/** Chunks of a child run that started this long ago may be deleted while they are merged. */
const CHUNKS_CERTAIN_MS = LIVE_LOG_RETENTION_MS - 60 * 60 * 1000;

type EnsembleRun = Pick<RunsTable, 'id' | 'ensemble'>;

/** A child run at its position in the definition of the ensemble. */
interface Source {
  run: LoggedChildRun;
  position: number;
  prefix: string;
}

/** The child runs that exist, in the order of run groups and repetitions, and how many the ensemble asks for. */
async function sourcesOf(db: Reader, parent: EnsembleRun): Promise<{ sources: Source[]; requested: number }> {
  const { run_groups } = JSON.parse(parent.ensemble ?? '{"run_groups":[]}') as { run_groups: RunGroup[] };
  const first = new Map<string, number>();
  let requested = 0;
  for (const { id, repetitions } of run_groups) {
    first.set(id, requested);
    requested += repetitions;
  }
  const sources = (await listLoggedChildRuns(db, parent.id)).map((run): Source => {
    const { run_group_id = '', repetition = 0 } = parseLabels(run);
    const position = (first.get(run_group_id) ?? 0) + repetition;
    return { run, position, prefix: `${run_group_id}/${run.id} | ` };
  });
  return { sources: sources.sort((one, other) => one.position - other.position), requested };
}

/** The last chunk that was read of each child run, by position; 0 for none. */
type Places = number[];

interface Step {
  lines: { micros: number; text: string; position: number }[];
  /** No line that is left is older, in microseconds; infinite when none is left. */
  horizon: number;
}

/**
 * Reads the oldest chunks after the places and moves the places past them. Stops after `linesMax` lines, at the end of a
 * chunk. Lines are in the order of time.
 */
async function readStep(
  db: Reader,
  sources: readonly Source[],
  places: Places,
  linesMax: number,
): Promise<Step> {
  const keys = await keysInOrder(db, sources, places);
  const taken = keys.chunks.slice(0, CHUNKS_PER_STEP);
  const chunks = await readLogChunks(
    db,
    taken.map(({ chunk }) => chunk),
  );
  const lines: Step['lines'] = [];
  let horizon = Math.min(keys.horizon, keys.chunks[CHUNKS_PER_STEP]?.at ?? Number.POSITIVE_INFINITY);
  for (const { source, chunk, at } of taken) {
    if (lines.length >= linesMax) {
      horizon = Math.min(horizon, at);
      break;
    }
    places[source.position] = chunk.seq;
    const stored = chunks.get(chunkName(chunk)) ?? '[]';
    for (const [micros, text] of JSON.parse(stored) as StoredLogLine[])
      lines.push({ micros, text: source.prefix + text, position: source.position });
  }
  lines.sort((one, other) => one.micros - other.micros || one.position - other.position);
  return { lines, horizon: horizon * 1000 };
}

interface KeyInOrder {
  source: Source;
  chunk: LogChunkKey;
  /** When it begins, in milliseconds; never before the chunk before it, whatever a worker's clock said. */
  at: number;
}

/** The next chunks of every child run, oldest first. `horizon`: what was not looked at does not begin before. */
async function keysInOrder(
  db: Reader,
  sources: readonly Source[],
  places: Places,
): Promise<{ chunks: KeyInOrder[]; horizon: number }> {
  const next = await listNextLogChunks(
    db,
    sources.map(({ run, position }) => ({ run_id: run.id, after: places[position] ?? 0 })),
    CHUNKS_PER_STEP,
  );
  const bySource = new Map(sources.map((source) => [source.run.id, source]));
  const latest = new Map<string, { at: number; seq: number; last: number }>();
  const chunks: KeyInOrder[] = [];
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
  const unseen = [...latest.values()].filter(({ seq, last }) => seq < last).map(({ at }) => at);
  return { chunks, horizon: Math.min(Number.POSITIVE_INFINITY, ...unseen) };
}

const chunkName = ({ run_id, seq }: Pick<LogChunkKey, 'run_id' | 'seq'>): string => `${run_id} ${seq}`;

export interface EnsembleLogPage {
  lines: { micros: number; text: string }[];
  token: string;
  /** Whether these are all the lines there are now. */
  isComplete: boolean;
}

/**
 * The lines after the token, in the order of time within the page; null for what is no token of this ensemble. Read the
 * status of the ensemble before: it ends after its child runs, so a page that is complete then has the last line.
 */
export async function readEnsembleLogPage(
  db: Reader,
  parent: EnsembleRun,
  since: string | undefined,
): Promise<EnsembleLogPage | null> {
  const { sources, requested } = await sourcesOf(db, parent);
  const places = readToken(since, requested);
  if (places === null) return null;
  const { lines, horizon } = await readStep(db, sources, places, LIVE_LOG_LINES_PER_PAGE);
  return { lines, token: writeToken(places), isComplete: horizon === Number.POSITIVE_INFINITY };
}

/** About seven characters for each child run. */
function writeToken(places: Places): string {
  return `e${places.map((seq) => (seq === 0 ? '' : seq.toString(36))).join('.')}`;
}

function readToken(since: string | undefined, requested: number): Places | null {
  if (since === undefined || since === '') return Array.from({ length: requested }, () => 0);
  if (!/^e(?:[0-9a-z]{0,10}\.)*[0-9a-z]{0,10}$/.test(since)) return null;
  const places = since
    .slice(1)
    .split('.')
    .map((part) => (part === '' ? 0 : Number.parseInt(part, 36)));
  return places.length === requested && places.every(Number.isSafeInteger) ? places : null;
}

/** Prepares the finished logs of ensembles, one after the other: a merge may hold megabytes. */
export class EnsembleLogMerger {
  readonly #parts: { database: Database; contents: Contents; clock: Clock };
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: { database: Database; contents: Contents; clock: Clock }) {
    this.#parts = parts;
  }

  /** The log of an ensemble whose child runs have ended; null when they logged nothing. */
  prepare(parent: EnsembleRun): Promise<PreparedContent | null> {
    const prepared = this.#last.then(() => this.#prepare(parent));
    this.#last = prepared.catch(() => {});
    return prepared;
  }

  async #prepare(parent: EnsembleRun): Promise<PreparedContent | null> {
    const { database, contents, clock } = this.#parts;
    const parts = mergedLog({ db: database.read, contents, now: clock.now() }, parent);
    let head = '';
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      head += next.value;
      if (head.length <= HEAD_CHARS_MAX) continue;
      const rest = (async function* () {
        yield head;
        yield* parts;
      })();
      return contents.prepareStream(Readable.from(rest, { objectMode: false }), Number.MAX_SAFE_INTEGER);
    }
    return head === '' ? null : contents.prepare(Buffer.from(head));
  }
}

/** Up to here a log is stored in the database, without a blob of its own. */
const HEAD_CHARS_MAX = 32 * 1024;

/**
 * The finished log in parts, at most LOG_BYTES_MAX. Of a child run that was started again it has the last start, as the
 * log of the run itself does; of one that started almost a day ago or earlier, the log as one block, at its start.
 */
async function* mergedLog(
  { db, contents, now }: { db: Reader; contents: Contents; now: number },
  parent: EnsembleRun,
): AsyncGenerator<string> {
  let bytes = 0;
  for await (const part of mergedParts({ db, contents, now }, parent)) {
    bytes += Buffer.byteLength(part);
    if (bytes > LOG_BYTES_MAX) {
      yield `[log cut after ${LOG_BYTES_MAX} bytes: read the logs of the child runs]\n`;
      return;
    }
    yield part;
  }
}

async function* mergedParts(
  { db, contents, now }: { db: Reader; contents: Contents; now: number },
  parent: EnsembleRun,
): AsyncGenerator<string> {
  const { sources, requested } = await sourcesOf(db, parent);
  const isOld = ({ run }: Source) =>
    run.log_content_id !== null && (run.initiated_at ?? now) < now - CHUNKS_CERTAIN_MS;
  const old = sources
    .filter(isOld)
    .sort((one, other) => (one.run.initiated_at ?? 0) - (other.run.initiated_at ?? 0));
  const recent = sources.filter((source) => !isOld(source));
  const places: Places = Array.from({ length: requested }, () => 0);
  for (const { run, position } of recent) places[position] = run.fence * CHUNKS_PER_CLAIM;
  const blocksBefore = async function* (micros: number): AsyncGenerator<string> {
    while (old[0] && (old[0].run.initiated_at ?? 0) * 1000 <= micros) {
      const source = old.shift();
      if (source) yield* blockOf(contents, source);
    }
  };
  let held: Step['lines'] = [];
  for (;;) {
    const { lines, horizon } = await readStep(db, recent, places, Number.POSITIVE_INFINITY);
    held.push(...lines);
    held.sort((one, other) => one.micros - other.micros || one.position - other.position);
    let chars = held.reduce((sum, { text }) => sum + text.length, 0);
    let released = 0;
    for (const { micros, text } of held) {
      if (micros >= horizon && chars <= HELD_CHARS_MAX) break;
      yield* blocksBefore(micros);
      yield `${text}\n`;
      chars -= text.length;
      released += 1;
    }
    held = held.slice(released);
    if (horizon === Number.POSITIVE_INFINITY) break;
    await setImmediate();
  }
  yield* blocksBefore(Number.POSITIVE_INFINITY);
}

async function* blockOf(contents: Contents, { run, prefix }: Source): AsyncGenerator<string> {
  const content = run.log_content_id === null ? undefined : await contents.find(run.log_content_id);
  if (!content) return;
  try {
    const input = await content.open();
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      yield `${prefix}${line}\n`;
  } catch (error) {
    // The ensemble ends all the same.
    yield `${prefix}[log not readable: ${errorMessage(error)}]\n`;
  }
}
