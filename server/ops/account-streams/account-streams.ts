/**
 * The streams of accounts in this process. One reading of the new events serves the streams of all accounts, and streams of
 * the same account share the text. A stream that is full misses single changes: once it is read, it gets an event that asks
 * its client to read the lists again.
 */
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import {
  type ExperimentState,
  findExperimentStates,
  listStartedExperiments,
} from '../../experiments/store/started-experiments.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Topic } from '../../platform/database/database.ts';
import {
  type EventStream,
  formatEvents,
  type ServerEvent,
  sendInTurns,
} from '../../platform/http/streams/event-stream.ts';
import type { OpenStreams } from '../../platform/http/streams/open-streams.ts';
import { PacedRounds } from '../../platform/http/streams/paced-rounds.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import { type EventPosition, listChanges, type RunChangeRow } from '../../runs/streams/account-changes.ts';
import { createRunsEvent, formatPosition } from './account-events.ts';
import { ChangeReader } from './change-reader.ts';

const STARTED_MAX = 1000;

/** The experiments that were started at the last look. */
class ExperimentWatch {
  #started: Map<string, ExperimentState> | null = null;

  /** Returns the changes since the last call that succeeded; the first call returns none. */
  async listChanges(db: Reader): Promise<ExperimentState[]> {
    const rows = await listStartedExperiments(db, STARTED_MAX);
    const before = this.#started;
    const started = new Map(rows.map((row) => [row.uid, row]));
    const ended = before === null ? [] : [...before.keys()].filter((uid) => !started.has(uid));
    const changes = await findExperimentStates(db, ended);
    this.#started = started;
    return before === null ? [] : [...rows.filter(({ uid }) => !before.has(uid)), ...changes];
  }

  /** Forgets the last look. */
  reset(): void {
    this.#started = null;
  }
}

const RUN_TOPICS: readonly Topic[] = ['runs-started', 'runs-canceled', 'runs-ended'];
/** Changes of the queue without an event of a run: a worker or its slots, or the priority of a run. */
const QUEUE_TOPICS: readonly Topic[] = ['runs-queued', 'workers-changed'];
const EXPERIMENT_TOPICS: readonly Topic[] = ['runs-planned', 'experiments-ended'];
/** Events that a client which continues may have missed; of more, it reads the lists again. */
const MISSED_MAX = 500;
const MISSED_TRIES_MAX = 5;
const QUEUE_EVENT: ServerEvent = { event: 'queue', data: {} };

interface Parts {
  database: Pick<Database, 'read' | 'listen'>;
  clock: Clock;
  log: Log;
  openStreams: OpenStreams;
}

/** Streams the changes of all accounts. */
export class AccountStreams {
  readonly #parts: Parts;
  readonly #streams = new Map<AccountId, Set<EventStream>>();
  /** Streams that were full when changes came. */
  readonly #behind = new Set<EventStream>();
  readonly #rounds: PacedRounds;
  readonly #changes: ChangeReader;
  readonly #experiments = new ExperimentWatch();
  #isQueueChanged = false;
  /** Changes of experiments that are read and not sent. */
  #experimentChanges: ExperimentState[] = [];
  /** The move to the end of the events, while the first streams open. */
  #beginning: Promise<void> | null = null;

  constructor(parts: Parts) {
    const { clock, database } = parts;
    this.#parts = parts;
    this.#changes = new ChangeReader(clock);
    this.#rounds = new PacedRounds(clock, () => this.#advance());
    for (const topic of [...RUN_TOPICS, ...EXPERIMENT_TOPICS])
      database.listen(topic, () => this.#rounds.wake());
    for (const topic of QUEUE_TOPICS)
      database.listen(topic, () => {
        this.#isQueueChanged = true;
        this.#rounds.wake();
      });
  }

  /**
   * Opens a stream of the account. After a position it begins with the changes since then, otherwise with an event without
   * changes. Throws a 429 when the member has too many streams.
   */
  async open(member: string, account: AccountId, from: EventPosition | null): Promise<EventStream> {
    await this.#begin();
    // The next round reads every event that another server has sent.
    if (from !== null && this.#isBehind(from)) await this.#rounds.waitForRound();
    const stream = this.#parts.openStreams.open(member);
    const missed = from === null ? [] : await this.#listMissed(account, from);
    stream.send(formatEvents([createRunsEvent(missed, this.#changes.position)]));
    const streams = this.#streams.get(account) ?? new Set();
    this.#streams.set(account, streams.add(stream));
    stream.once('close', () => this.#remove(account, stream));
    this.#rounds.start();
    return stream;
  }

  /**
   * Moves to the end of the events when no stream is open. Streams that open at the same time share the move: a later one
   * would skip events of the stream that opened first.
   */
  async #begin(): Promise<void> {
    if (this.#streams.size > 0) return;
    this.#beginning ??= this.#moveToEnd().finally(() => {
      this.#beginning = null;
    });
    await this.#beginning;
  }

  async #moveToEnd(): Promise<void> {
    const { read } = this.#parts.database;
    this.#isQueueChanged = false;
    this.#experiments.reset();
    await this.#experiments.listChanges(read);
    this.#experimentChanges = [];
    await this.#changes.moveToEnd(read);
  }

  /**
   * Reports whether a client has events that this process has not read. It had them from another server, a moment earlier.
   * The next round would send them again.
   */
  #isBehind(from: EventPosition): boolean {
    const { seq, missing } = this.#changes.position;
    return seq < from.seq || missing.some((number) => number <= from.seq && !from.missing.includes(number));
  }

  /** Returns the changes between the position and that of all streams; null for too many. */
  async #listMissed(account: AccountId, from: EventPosition): Promise<RunChangeRow[] | null> {
    for (let tries = 0; tries < MISSED_TRIES_MAX; tries += 1) {
      const { position } = this.#changes;
      if (from.seq > position.seq) return null;
      const rows = await listChanges(this.#parts.database.read, from, account, MISSED_MAX + 1);
      if (rows.length > MISSED_MAX) return null;
      // Otherwise a round has passed meanwhile, whose changes neither the rows nor the next round have.
      if (formatPosition(this.#changes.position) === formatPosition(position))
        return rows.filter(({ seq }) => seq <= position.seq && !position.missing.includes(seq));
    }
    return null;
  }

  #remove(account: AccountId, stream: EventStream): void {
    const streams = this.#streams.get(account);
    streams?.delete(stream);
    this.#behind.delete(stream);
    if (streams?.size === 0) this.#streams.delete(account);
    if (this.#streams.size === 0) this.#rounds.stop();
  }

  async #advance(): Promise<void> {
    const { database, log } = this.#parts;
    try {
      // A read that fails must not lose what the read before it has found: the next round sends it.
      this.#experimentChanges.push(...(await this.#experiments.listChanges(database.read)));
      const rows = await this.#changes.read(database.read);
      const experiments = this.#experimentChanges.splice(0);
      const hasQueueEvent = this.#isQueueChanged || rows === null || rows.length > 0;
      this.#isQueueChanged = false;
      const messages = [...this.#streams].map(([account, streams]) => ({
        // Streams that open while others are sent to begin after these events.
        streams: [...streams],
        events: [
          ...this.#createRunsEvents(account, rows),
          ...(hasQueueEvent ? [QUEUE_EVENT] : []),
          ...createExperimentsEvents(account, experiments),
        ],
      }));
      for (const { streams, events } of messages) await this.#sendToAll(streams, events);
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'Changes for the streams of accounts could not be read.');
    }
  }

  #createRunsEvents(account: AccountId, rows: readonly RunChangeRow[] | null): ServerEvent[] {
    const own = rows?.filter((row) => row.account === account) ?? null;
    return own?.length === 0 ? [] : [createRunsEvent(own, this.#changes.position)];
  }

  async #sendToAll(streams: readonly EventStream[], events: readonly ServerEvent[]): Promise<void> {
    if (events.length === 0 && !streams.some((stream) => this.#behind.has(stream))) return;
    const bytes = formatEvents(events);
    const reread = formatEvents([createRunsEvent(null, this.#changes.position), QUEUE_EVENT]);
    await sendInTurns(streams, (stream) => {
      if (stream.isFull) {
        if (bytes.length > 0 && !stream.isOver) this.#behind.add(stream);
      } else stream.send(this.#behind.delete(stream) ? reread : bytes);
    });
  }
}

function createExperimentsEvents(account: AccountId, experiments: readonly ExperimentState[]): ServerEvent[] {
  const changes = experiments
    .filter((experiment) => experiment.account_id === account)
    .map(({ application_id, id, type, status }) => ({ application_id, experiment_id: id, type, status }));
  return changes.length === 0 ? [] : [{ event: 'experiments', data: { changes } }];
}
