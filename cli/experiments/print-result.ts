/** Prints the result of an experiment, and sets the exit code by its verdict. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import type { Session } from '../session/session.ts';
import { chooseGlyphs } from '../terminal/pictures/glyphs.ts';
import type { ExperimentResult } from './experiment-result.ts';
import { type ExperimentAddress, findConsolePage } from './find-experiment.ts';
import { formatResult } from './format-result.ts';
import { formatResultCsv } from './format-result-csv.ts';
import { readResult } from './read-result.ts';
import { formatReport } from './report/format-report.ts';

interface PrintOptions {
  indicator?: string | undefined;
  candidate?: string | undefined;
  report?: string | undefined;
  csv?: true | undefined;
}

/** Prints the result as text, JSON or CSV, and writes the report. */
export async function printResult(
  session: Session,
  address: ExperimentAddress,
  { indicator, candidate, report, csv }: PrintOptions = {},
): Promise<void> {
  const { output, terminal } = session;
  const result = await readResult(session.connect(), address);
  checkNames(result, { indicator, candidate });
  setExitCode(session, result);
  if (report !== undefined) {
    const page = findConsolePage(session.findConnection().url, result.address);
    writeFileSync(resolve(terminal.cwd, report), formatReport(result, page, new Date()));
    output.note(`The report is in ${report}.`);
  }
  output.print({
    json: result.body,
    text: () =>
      csv
        ? formatResultCsv(result)
        : formatResult(result, {
            width: output.width,
            tableWidth: output.tableWidth,
            style: output.style,
            glyphs: chooseGlyphs(terminal.env),
            ...(indicator !== undefined && { indicator }),
            ...(candidate !== undefined && { candidate }),
          }),
    quiet: () => address.id,
  });
}

/** A misspelt name would print another indicator, or nothing. */
function checkNames(
  { compared }: ExperimentResult,
  { indicator, candidate }: Pick<PrintOptions, 'indicator' | 'candidate'>,
): void {
  const names = {
    '--candidate': { name: candidate, known: compared.map(({ names }) => names.candidate) },
    '--indicator': {
      name: indicator,
      known: compared.flatMap(({ indicators }) => indicators.map((view) => view.indicator)),
    },
  };
  for (const [option, { name, known }] of Object.entries(names))
    if (name !== undefined && !known.includes(name))
      throw new CommandError(
        `${option} is "${name}"; the result has ${[...new Set(known)].join(', ') || 'none'}.`,
      );
}

/** Sets the exit code 1 for a test that is not passed, and for an experiment that failed or was canceled. */
export function setExitCode(
  session: Session,
  { isPassed, status }: Pick<ExperimentResult, 'isPassed' | 'status'>,
): void {
  const isBad = isPassed === false || status === 'failed' || status === 'canceled';
  session.exitCode = isBad ? EXIT_CODES.failure : EXIT_CODES.success;
}
