/**
 * Everything a handler needs that outlives a request. `main.ts` builds it once. Each slice adds its own services by
 * declaration merging, at the top of its `operations.ts`, because `server/http` stands before all slices in the import
 * order. A helper takes the part it needs: `Pick<Context, 'clock' | 'contents'>`.
 */
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { Random } from '../../random.ts';
import type { Metrics } from '../metrics.ts';

/** The database without transactions: a handler writes by `commit` alone, so that no effect lacks its audit entry. */
export type ReadOnlyDatabase = Pick<Database, 'kind' | 'read' | 'notify' | 'listen'>;

export interface Context {
  database: ReadOnlyDatabase;
  contents: Contents;
  clock: Clock;
  random: Random;
  metrics: Metrics;
}
