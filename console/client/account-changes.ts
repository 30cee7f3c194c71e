/**
 * Reads queries again when the stream of the account says that they have changed. A query names its topics in its `meta`.
 * Without the stream it polls, as its `refetchInterval` says by `unlessLive`.
 */
import type { ReceivedEvent } from '@switchyard/contract/read-events.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import type { Query } from '@tanstack/react-query';
import { queryClient } from './queries.ts';

/** Events that change a query: those of one application, or of all without one. */
export interface Topic {
  events: 'runs' | 'queue' | 'experiments';
  application?: string;
}

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { topics?: readonly Topic[] };
  }
}

/** Collects the events of one moment, such as those of an experiment that starts. */
const PAUSE_MIN_MS = 500;
/** A pause lasts this many times as long as the reading before it, so that a slow list costs the server little. */
const PAUSE_FACTOR = 4;
/** Covers changes without an event, such as a new name. */
const LIVE_REFETCH_MS = 60_000;
/** A connection that is lost for longer makes the queries poll. */
const RECONNECT_MS = 3_000;
/** A page reads its lists and opens the stream at the same time: what changed in between is read when the page stands. */
const FIRST_PAUSE_MS = 3_000;
const EVERYTHING: readonly Topic[] = [{ events: 'runs' }, { events: 'queue' }, { events: 'experiments' }];

/** The changes of the account that have not been read yet. */
class AccountChanges {
  #isLive = false;
  #wasLive = false;
  #pending: Topic[] = [];
  #isReading = false;

  /** True while the stream announces changes. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Notes that the stream has its first event, or that the connection has ended. */
  setLive(isLive: boolean): void {
    if (isLive === this.#isLive) return;
    this.#isLive = isLive;
    // The queries may be older than the connection.
    if (!isLive) setTimeout(() => this.#isLive || this.#add(EVERYTHING), RECONNECT_MS);
    else if (this.#wasLive) this.#add(EVERYTHING);
    else setTimeout(() => this.#add(EVERYTHING), FIRST_PAUSE_MS);
    this.#wasLive ||= isLive;
  }

  /** Reads the queries again that an event of the stream has changed. */
  handleEvent({ event, data }: ReceivedEvent): void {
    if (event === 'queue') this.#add([{ events: 'queue' }]);
    if (event !== 'runs' && event !== 'experiments') return;
    const value: unknown = JSON.parse(data);
    const { changes, is_truncated } = isRecord(value) ? value : {};
    const applications = new Set(Array.isArray(changes) ? changes.map(readApplication) : []);
    this.#add(
      is_truncated
        ? [{ events: event }]
        : [...applications].map((application) => ({ events: event, application })),
    );
  }

  #add(topics: readonly Topic[]): void {
    this.#pending.push(...topics);
    if (!this.#isReading && this.#pending.length > 0) void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#pending.length > 0) {
      const topics = this.#pending.splice(0);
      const startedAt = performance.now();
      const filters = { predicate: (query: Query) => isChanged(query, topics) };
      // A request that is under way may have missed the change. Ending it would also end that of "Load more".
      if (queryClient.isFetching(filters) > 0) this.#pending.push(...topics);
      await queryClient.invalidateQueries(filters, { cancelRefetch: false });
      const pauseMs = Math.max(PAUSE_MIN_MS, (performance.now() - startedAt) * PAUSE_FACTOR);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    this.#isReading = false;
  }
}

/** The changes of the account of this page. */
export const accountChanges = new AccountChanges();

/** Returns the milliseconds until a query is read again without an event; `pollMs` without the stream. */
export function unlessLive(pollMs: number | false): number | false {
  return accountChanges.isLive && pollMs !== false ? Math.max(pollMs, LIVE_REFETCH_MS) : pollMs;
}

/** Returns true for a query that the stream changes. */
export function hasTopics({ meta }: Query): boolean {
  return meta?.topics !== undefined;
}

function isChanged(query: Query, changed: readonly Topic[]): boolean {
  return (query.meta?.topics ?? []).some((topic) =>
    changed.some(
      ({ events, application }) =>
        events === topic.events &&
        (application === undefined || topic.application === undefined || application === topic.application) &&
        (events !== 'runs' || isPolled(query)),
    ),
  );
}

/**
 * Returns false for a query that its runs do not change any more, such as that of an ended experiment. A query that no
 * component shows is marked, so that the next component reads it again.
 */
function isPolled(query: Query): boolean {
  const { observers } = query;
  const hasInterval = ({ options: { refetchInterval } }: (typeof observers)[number]): boolean =>
    typeof refetchInterval === 'function' ? refetchInterval(query) !== false : refetchInterval !== false;
  return observers.length === 0 || observers.some(hasInterval);
}

function readApplication(change: unknown): string {
  return isRecord(change) ? String(change.application_id) : '';
}
