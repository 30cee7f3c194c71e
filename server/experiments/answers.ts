/** What is asked of the runs of an experiment, by its kind, and the answer in JSON. Pure. */
import { namesOf } from '../runs/indicators.ts';
import { type AcceptanceQuestion, acceptanceResults } from './acceptance-results.ts';
import { analyse, type Question } from './analyse.ts';
import {
  type ShadowQuestion,
  type SwitchbackQuestion,
  shadowResults,
  switchbackResults,
  type UnitRun,
} from './live-results.ts';
import { objectivesByName } from './objective-names.ts';
import { RunReader } from './run-reader.ts';

export type AnyQuestion =
  | (Question & { kind?: 'batch' })
  | AcceptanceQuestion
  | ShadowQuestion
  | SwitchbackQuestion;

/** Reads runs for the question: the indicators that it names are kept, however many there are. */
export function readerFor(question: AnyQuestion): RunReader {
  if (question.kind === 'acceptance')
    return new RunReader(question.definition.metrics.flatMap(({ field }) => namesOf(field)));
  const { objectives } =
    question.kind === 'shadow' || question.kind === 'switchback' ? question.definition : question;
  return new RunReader(objectivesByName(objectives ?? {}).keys());
}

export function answer(question: AnyQuestion, { runs, isCut }: Pick<RunReader, 'runs' | 'isCut'>): string {
  if (question.kind === 'acceptance') return JSON.stringify(acceptanceResults(question, runs));
  const found = resultsOf(question, runs);
  if (isCut)
    found.warnings.push('Indicators that the fewest runs reported are left out: there are too many numbers.');
  return JSON.stringify(found);
}

function resultsOf(question: Exclude<AnyQuestion, AcceptanceQuestion>, runs: readonly UnitRun[]) {
  if (question.kind === 'shadow') return shadowResults(question, runs);
  if (question.kind === 'switchback') return switchbackResults(question, runs);
  return analyse(question, runs);
}
