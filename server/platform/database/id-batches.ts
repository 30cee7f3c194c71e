/** Ids of one statement, far below the number of parameters that either database accepts. */
const IDS_PER_STATEMENT = 500;

/** Yields the ids in parts that are small enough for one statement each. */
export function* splitIntoBatches<Id>(ids: readonly Id[]): Generator<Id[]> {
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT)
    yield ids.slice(from, from + IDS_PER_STATEMENT);
}
