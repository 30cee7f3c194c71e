/** Finds the indicator of a run by the path in a rule or an objective. */

const BLOCK_PREFIXES = ['metrics.', 'statistics.'];

/**
 * Lists the indicator names that a path may mean, the path itself first. A path may begin with `$.`, as in JSONPath, and
 * with the block of the output, as in `$.metrics.total_cost`.
 */
export function listIndicatorNames(path: string): string[] {
  const names = [path];
  if (path.startsWith('$.')) names.push(path.slice(2));
  const last = names.at(-1) ?? path;
  const prefix = BLOCK_PREFIXES.find((block) => last.startsWith(block));
  if (prefix) names.push(last.slice(prefix.length));
  return names;
}

/** Returns the value of the indicator that the path means; undefined when the run did not report it. */
export function findIndicator<V>(reports: Pick<ReadonlyMap<string, V>, 'get'>, path: string): V | undefined {
  const exact = reports.get(path);
  if (exact !== undefined) return exact;
  for (const name of listIndicatorNames(path).slice(1)) {
    const value = reports.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}
