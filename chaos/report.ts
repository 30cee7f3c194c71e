/** The report of the chaos test: injected faults, requests, observations, checks and the outcome. */

/** One promise, the number of checked items, and the violations. */
export interface CheckReport {
  promise: string;
  checked: string;
  violations: readonly string[];
}

/** The whole report; `--json` prints it. */
export interface Report {
  database: 'sqlite' | 'postgres';
  minutes: number;
  /** The same seed repeats the sequence of faults. */
  seed: string;
  /** Number of injections of each fault. */
  injected: Record<string, number>;
  /** Faults that this host does not allow, with the reason. */
  unavailable: Record<string, string>;
  requested: Record<string, number>;
  observed: Record<string, number>;
  checks: CheckReport[];
  outcome: 'held' | 'broken';
  /** Folder with the data and the log, or null if they were deleted. */
  folder: string | null;
}

const VIOLATIONS_MAX = 20;
const numberFormat = new Intl.NumberFormat('en');

/** Returns the report as text for a terminal. */
export function formatReport(report: Report): string {
  const { database, minutes, seed, injected, unavailable, requested, observed, checks, outcome, folder } =
    report;
  const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const table = (rows: Record<string, number>): string[] =>
    Object.entries(rows).map(([label, count]) => `${numberFormat.format(count).padStart(9)}  ${label}`);
  const broken = checks.filter(({ violations }) => violations.length > 0);
  return [
    `Chaos test of Switchyard on ${name}: ${minutes} minutes, seed ${seed}.`,
    '',
    'Injected faults:',
    ...table(injected),
    ...Object.entries(unavailable).map(([fault, reason]) => `    never  ${fault}: ${reason}`),
    '',
    'Requests:',
    ...table(requested),
    '',
    'Observations:',
    ...table(observed),
    '',
    'Checks:',
    ...checks.flatMap(({ promise, checked, violations }) => [
      `${(violations.length === 0 ? 'holds' : 'BROKEN').padStart(9)}  ${promise} (${checked})`,
      ...violations.slice(0, VIOLATIONS_MAX).map((one) => `             ${one}`),
      ...(violations.length > VIOLATIONS_MAX
        ? [`             and ${violations.length - VIOLATIONS_MAX} more`]
        : []),
    ]),
    '',
    outcome === 'held'
      ? 'Outcome: every promise held.'
      : `Outcome: ${broken.length} of ${checks.length} promises were broken.`,
    ...(folder ? [`Data, log and report are in ${folder}`] : []),
    '',
  ].join('\n');
}
