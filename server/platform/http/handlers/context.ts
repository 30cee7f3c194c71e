/**
 * The services that handlers use and that outlive a request. `services.ts` builds them once. Here are those that this room
 * itself needs; `server/context.ts` lists all others, because the rooms that own them stand after this one in the import
 * order. A handler or helper names its part of the context, and gets no more: `Pick<Context, 'clock' | 'contents'>`.
 */
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { Log } from '../../log.ts';
import type { Random } from '../../random.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Metrics } from '../metrics.ts';

/** The database without transactions: a handler writes only through `commit`, so that no effect lacks its audit entry. */
type ReadOnlyDatabase = Pick<Database, 'kind' | 'read' | 'readInOrder' | 'notify' | 'listen'>;

export interface Context {
  database: ReadOnlyDatabase;
  contents: Contents;
  clock: Clock;
  random: Random;
  metrics: Metrics;
  log: Log;
  /** null: no spans are exported. */
  tracing: Tracing | null;
}
