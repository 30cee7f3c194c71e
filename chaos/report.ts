/** What the torture tells in the end: what was done, what was asked, what was checked, the verdict. */

/** One promise, how much was looked at, and where it was broken. */
export interface CheckReport {
  promise: string;
  looked: string;
  violations: readonly string[];
}

export interface Report {
  database: 'sqlite' | 'postgres';
  minutes: number;
  /** Give it again for the same sequence of faults. */
  seed: string;
  /** Times of each fault. */
  done: Record<string, number>;
  /** Blows that this host does not allow, and why. */
  not_done: Record<string, string>;
  asked: Record<string, number>;
  seen: Record<string, number>;
  checks: CheckReport[];
  verdict: 'held' | 'broken';
  /** Where the data and the log are kept, or null. */
  kept: string | null;
}

const SHOWN = 20;
const number = new Intl.NumberFormat('en');

export function formatReport(report: Report): string {
  const { database, minutes, seed, done, not_done, asked, seen, checks, verdict, kept } = report;
  const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const table = (rows: Record<string, number>): string[] =>
    Object.entries(rows).map(([what, count]) => `${number.format(count).padStart(9)}  ${what}`);
  const broken = checks.filter(({ violations }) => violations.length > 0);
  return [
    `Switchyard on ${name} was tortured for ${minutes} minutes, with the seed ${seed}.`,
    '',
    'What was done to it, and how often:',
    ...table(done),
    ...Object.entries(not_done).map(([what, why]) => `    never  ${what}: ${why}`),
    '',
    'What was asked of it meanwhile:',
    ...table(asked),
    '',
    'What became of that:',
    ...table(seen),
    '',
    'What was checked in the end:',
    ...checks.flatMap(({ promise, looked, violations }) => [
      `${(violations.length === 0 ? 'holds' : 'BROKEN').padStart(9)}  ${promise} (${looked})`,
      ...violations.slice(0, SHOWN).map((one) => `             ${one}`),
      ...(violations.length > SHOWN ? [`             and ${violations.length - SHOWN} more`] : []),
    ]),
    '',
    verdict === 'held'
      ? 'Verdict: everything that was promised held.'
      : `Verdict: ${broken.length} of ${checks.length} promises were broken.`,
    ...(kept ? [`Data, log and report are kept in ${kept}`] : []),
    '',
  ].join('\n');
}
