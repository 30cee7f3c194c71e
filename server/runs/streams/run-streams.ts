/**
 * The streams of runs in this process. They read the rows of their runs after notifications of any process, so a server
 * without a worker streams the runs of all workers. Nothing waits in memory for a reader: its position is enough to read on.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import PQueue from 'p-queue';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Topic } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import type { EventStream } from '../../platform/http/streams/event-stream.ts';
import type { OpenStreams } from '../../platform/http/streams/open-streams.ts';
import { PacedRounds } from '../../platform/http/streams/paced-rounds.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import type { StreamedRun } from './read-update.ts';
import type { RunCursor } from './run-cursor.ts';
import { RunFeed } from './run-feed.ts';

const TOPICS: readonly Topic[] = ['log-lines', 'runs-queued', 'runs-started', 'runs-canceled', 'runs-ended'];
/** Streams that read for themselves at the same time, each a page of lines. */
const CONCURRENT_READS_MAX = 2;

interface Parts {
  database: Pick<Database, 'read' | 'listen'>;
  clock: Clock;
  log: Log;
  openStreams: OpenStreams;
}

/** Streams the runs of all accounts. */
export class RunStreams {
  readonly #parts: Parts;
  readonly #feeds = new Map<RunId, RunFeed>();
  readonly #rounds: PacedRounds;
  readonly #reads = new PQueue({ concurrency: CONCURRENT_READS_MAX });

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rounds = new PacedRounds(parts.clock, () => this.#advanceAll());
    for (const topic of TOPICS) parts.database.listen(topic, () => this.#rounds.wake());
  }

  /** Opens a stream of the run from the cursor. Throws a 429 when the member has too many streams. */
  open(member: string, run: StreamedRun, cursor: RunCursor): EventStream {
    const stream = this.#parts.openStreams.open(member);
    const feed = this.#feeds.get(run.id) ?? this.#createFeed(run, cursor);
    feed.add(stream, cursor);
    this.#rounds.start();
    return stream;
  }

  #createFeed(run: StreamedRun, cursor: RunCursor): RunFeed {
    const { database, log } = this.#parts;
    const onError = (error: unknown): void => {
      log.warn({ run: run.id, error: errorMessage(error) }, 'Stream of a run could not be read.');
    };
    const feed = new RunFeed({ db: database.read, reads: this.#reads, onError }, run, cursor);
    this.#feeds.set(run.id, feed);
    return feed;
  }

  async #advanceAll(): Promise<void> {
    for (const [id, feed] of this.#feeds) if (feed.isEmpty) this.#feeds.delete(id);
    if (this.#feeds.size === 0) return this.#rounds.stop();
    const marks = await this.#readMarks();
    if (marks === null) return;
    for (const [id, feed] of this.#feeds) {
      if (await feed.advance(marks.get(id))) this.#rounds.wake();
    }
  }

  /** Returns null when the rows cannot be read now. */
  async #readMarks(): Promise<Map<RunId, string> | null> {
    const { database, log } = this.#parts;
    try {
      return await findRunMarks(database.read, [...this.#feeds.keys()]);
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'Reading the runs with open streams failed.');
      return null;
    }
  }
}

/**
 * Returns a text for each run that changes with its status, its lines and its points. A run that was deleted has none. Nor
 * has an ensemble run, whose lines are those of its child runs.
 */
async function findRunMarks(db: Reader, ids: readonly RunId[]): Promise<Map<RunId, string>> {
  const marks = new Map<RunId, string>();
  for (const batch of splitIntoBatches(ids))
    for (const { id, status, lines, points } of await selectMarks(db, batch))
      marks.set(id, `${status} ${lines} ${points}`);
  return marks;
}

function selectMarks(db: Reader, ids: readonly RunId[]) {
  return db
    .selectFrom('runs')
    .innerJoin('applications', 'applications.uid', 'runs.application_uid')
    .select((eb) => [
      'runs.id',
      'runs.status',
      eb
        .selectFrom('log_chunks')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .whereRef('log_chunks.run_id', '=', 'runs.id')
        .as('lines'),
      eb
        .selectFrom('run_series')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .whereRef('run_series.run_id', '=', 'runs.id')
        .as('points'),
    ])
    .where('runs.id', 'in', ids)
    .where('runs.run_type', '!=', 'ensemble')
    .where('applications.deleted_at', 'is', null)
    .execute();
}
