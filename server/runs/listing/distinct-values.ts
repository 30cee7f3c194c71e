/** The distinct values of a field in an interval, by an index that has an entry for each run. */
import { sql } from 'kysely';
import type { Reader } from '../../platform/database/database.ts';
import { prepareStatement } from '../../platform/database/prepared-statements.ts';
import type { ValueInterval } from '../values/encode-value.ts';

/** An interval of the values of a field. */
type FieldInterval = ValueInterval & { field: number };

const readDistinct = prepareStatement(selectDistinctValues);

/** Lists the first distinct values of the interval. Each costs one step into the index, however many entries have it. */
export async function listDistinctValues(
  db: Reader,
  { field, from, to }: FieldInterval,
  limit: number,
): Promise<string[]> {
  const rows = await readDistinct(db, { field, from, to, limit });
  return rows.flatMap(({ value }) => value ?? []);
}

function selectDistinctValues(db: Reader, { limit, ...interval }: FieldInterval & { limit: number }) {
  return withDistinctValues(db, interval)
    .selectFrom('distinct_values')
    .select('value')
    .where('value', 'is not', null)
    .limit(limit);
}

/**
 * Returns a query with the table `distinct_values` of the distinct values of the interval in their order: the first, and after
 * each the next. The last row is null. It finds no more values than a limit on the table lets it.
 */
export function withDistinctValues(db: Reader, { field, from, to }: FieldInterval) {
  const first = db
    .selectFrom('run_values')
    .select('value')
    .where('field', '=', field)
    .where('value', '>=', from)
    .where('value', '<=', to)
    .orderBy('value')
    .limit(sql.lit(1));
  return db.withRecursive('distinct_values(value)', (query) =>
    query
      .selectFrom(first.as('first'))
      .select(sql<string | null>`first.value`.as('value'))
      .unionAll(
        query
          .selectFrom('distinct_values')
          .select((eb) =>
            eb
              .selectFrom('run_values')
              .select('run_values.value')
              .where('run_values.field', '=', field)
              .whereRef('run_values.value', '>', 'distinct_values.value')
              .where('run_values.value', '<=', to)
              .orderBy('run_values.value')
              .limit(sql.lit(1))
              .as('value'),
          )
          .where('distinct_values.value', 'is not', null),
      ),
  );
}
