/** How a rule or an objective names an indicator of a run. Pure. */

const PREFIXES = ['metrics.', 'statistics.'];

/**
 * Names of the indicator that a path may mean, the path itself first: `$.` of a JSONPath may stand before it, and the block
 * of the output that reports it, as in `$.metrics.total_cost`.
 */
export function listIndicatorNames(path: string): string[] {
  const names = [path];
  if (path.startsWith('$.')) names.push(path.slice(2));
  const last = names.at(-1) ?? path;
  const prefix = PREFIXES.find((one) => last.startsWith(one));
  if (prefix) names.push(last.slice(prefix.length));
  return names;
}

/** The value of the indicator that the path means; undefined when the run did not report it. */
export function findIndicator<V>(reports: ReadonlyMap<string, V>, path: string): V | undefined {
  const exact = reports.get(path);
  if (exact !== undefined) return exact;
  for (const name of listIndicatorNames(path).slice(1)) {
    const value = reports.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}
