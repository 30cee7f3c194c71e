/** Prints the result of an experiment, and sets the exit code by its verdict. */

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXPERIMENTS, hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { formatDecision } from '@switchyard/contract/experiments/presentation/decide-release.ts';
import type { ExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { readExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import type { Session } from '../session/session.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { chooseGlyphs } from '../terminal/pictures/glyphs.ts';
import { findConsolePage } from './find-experiment.ts';
import { formatResult, formatResultCsv } from './format-result.ts';
import { formatReport } from './report/format-report.ts';

interface PrintOptions {
  indicator?: string | undefined;
  candidate?: string | undefined;
  report?: string | undefined;
  csv?: true | undefined;
  decide?: true | undefined;
}

/** Prints the result as text, JSON or CSV, and writes the report. */
export async function printResult(
  session: Session,
  address: ExperimentAddress,
  { indicator, candidate, report, csv, decide }: PrintOptions = {},
): Promise<void> {
  const { output, terminal } = session;
  const result = await readExperimentView(session.connect(), address);
  const glyphs = chooseGlyphs(terminal.env);
  checkNames(result, { indicator, candidate });
  if (!decide) setExitCode(session, result);
  if (report !== undefined) {
    const page = findConsolePage(session.findConnection().url, result.address);
    writeFileSync(resolve(terminal.cwd, report), formatReport(result, page, new Date()));
    output.note(`The report is in ${report}.`);
  }
  if (decide) return printDecision(session, result);
  output.print({
    json: result.body,
    text: () =>
      csv
        ? formatResultCsv(result)
        : formatResult(result, {
            width: output.width,
            tableWidth: output.tableWidth,
            style: output.style,
            glyphs,
            ...(indicator !== undefined && { indicator }),
            ...(candidate !== undefined && { candidate }),
          }).replaceAll('−', glyphs.minus),
    quiet: () => address.id,
  });
}

/** A misspelt name would print another indicator, or nothing. */
function checkNames(
  { compared }: ExperimentView,
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

/** Prints only the decision, and sets the exit code: 0 for yes, 1 for no or a bad end, 7 for undecided. */
export function printDecision(session: Session, result: ExperimentView): void {
  const { address, status } = result;
  if (!hasFact(address.type, 'hasCandidates'))
    throw new CommandError(
      `--decide needs an experiment with a candidate; a ${EXPERIMENTS[address.type].noun} has none.`,
    );
  const isBad = status === 'failed' || status === 'canceled';
  const decision: Decision = isBad
    ? { release: 'no', reason: `The experiment is ${status}.`, because_of: [] }
    : (result.decision ?? {
        release: 'undecided',
        reason: `${address.id} is ${status}; it has no result yet.`,
        because_of: [],
      });
  session.exitCode = DECISION_CODES[decision.release];
  session.output.printSentence(decision, cleanText(formatDecision(decision)), decision.release);
}

const DECISION_CODES = {
  yes: EXIT_CODES.success,
  no: EXIT_CODES.failure,
  undecided: EXIT_CODES.undecided,
} as const;

/**
 * Sets the exit code 1 for a test that is not passed, and for an experiment that failed or was canceled. A test that is
 * passed, with a decision that is not yes, has that of the decision.
 */
export function setExitCode(
  session: Session,
  { isPassed, status, decision }: Pick<ExperimentView, 'isPassed' | 'status' | 'decision'>,
): void {
  const isBad = isPassed === false || status === 'failed' || status === 'canceled';
  session.exitCode = isBad ? EXIT_CODES.failure : EXIT_CODES.success;
  if (!isBad && isPassed && decision) session.exitCode = DECISION_CODES[decision.release];
}
