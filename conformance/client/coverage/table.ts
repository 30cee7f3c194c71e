/** Compares the outcomes of the calls with what is expected, and formats them as the table of COVERAGE.md. */
import { DECLINED, NOTES } from './expected.ts';

/** Empty for a name whose calls succeeded, the first failure of another, and null for a name that nothing called. */
export type Outcomes = Record<string, string | null>;

/** Outcomes of the three surfaces of the client. */
export interface Coverage {
  methods: Outcomes;
  commands: Outcomes;
  tools: Outcomes;
}

interface Expectation {
  result: 'works' | 'declined';
  note: string;
}

/** Returns what is expected of a name. */
function findExpectation(name: string): Expectation {
  const declined = DECLINED.find(([pattern]) => pattern.test(name));
  if (declined) return { result: 'declined', note: declined[1] };
  return { result: 'works', note: NOTES.find(([pattern]) => pattern.test(name))?.[1] ?? '' };
}

/** Returns one sentence for each name whose outcome is not the expected one, and for each pattern without a name. */
export function findProblems(coverage: Coverage): string[] {
  const problems: string[] = [];
  for (const [surface, outcomes] of Object.entries(coverage)) {
    for (const [name, outcome] of Object.entries<string | null>(outcomes)) {
      const isExpected = findExpectation(name).result === 'works';
      if (outcome === null) problems.push(`${name}: nothing calls it. Add a call to ${surface}.py.`);
      else if (outcome === '' && !isExpected) problems.push(`${name} works. Remove it from expected.ts.`);
      else if (outcome !== '' && isExpected) problems.push(`${name} failed: ${outcome}`);
    }
  }
  const names = Object.values(coverage).flatMap((outcomes) => Object.keys(outcomes));
  for (const [pattern] of [...DECLINED, ...NOTES]) {
    if (!names.some((name) => pattern.test(name)))
      problems.push(`The pattern ${pattern} of expected.ts matches no name of the client. Remove it.`);
  }
  return problems;
}

/** Returns the text of COVERAGE.md. */
export function formatCoverage({ methods, commands, tools }: Coverage): string {
  const sections: [string, string[]][] = [
    ['Methods of `nextmv.cloud`', Object.keys(methods)],
    ['Commands', Object.keys(commands)],
    ['Tools of `nextmv mcp serve`', Object.keys(tools)],
  ];
  const count = (names: readonly string[], result: Expectation['result']): number =>
    names.filter((name) => findExpectation(name).result === result).length;
  const totals = sections.map(([title, names]) => [
    title,
    ...[names.length, count(names, 'works'), count(names, 'declined')].map(String),
  ]);
  const lists = sections.map(([title, names]) => {
    const rows = names.toSorted().map((name) => {
      const { result, note } = findExpectation(name);
      return [`\`${name}\``, result, note];
    });
    return `## ${title}\n\n${formatTable([['Name', 'Result', 'Note'], ...rows])}\n`;
  });
  return `# Coverage of the published client

\`coverage.test.ts\` calls each of these names against a server and writes this file. Conversions that all models share, such
as \`to_dict\`, send no request and are left out.

${formatTable([['Surface', 'Names', 'Work', 'Declined'], ...totals])}

${lists.join('\n')}`;
}

/** Returns a table of Markdown with columns of equal width, as the formatter of this repository writes it. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const formatRow = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [head, widths.map((width) => '-'.repeat(width)), ...body].map(formatRow).join('\n');
}
