/**
 * The services that handlers use and that outlive a request. `main.ts` builds them once. Each slice adds its own services
 * by declaration merging, at the top of its `operations.ts`, because `server/platform/http` precedes all slices in the import
 * order. The parameter of a helper names its part of the context: `Pick<Context, 'clock' | 'contents'>`.
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

/** The shared services of all handlers. */
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
