/** What is asked of the runs of an experiment, by its kind, and the answer in JSON. Pure. */
import { type AcceptanceQuestion, acceptanceResults } from './acceptance-results.ts';
import { analyse, type Question } from './analyse.ts';
import {
  type ShadowQuestion,
  type SwitchbackQuestion,
  shadowResults,
  switchbackResults,
  type UnitRun,
} from './live-results.ts';

export type AnyQuestion =
  | (Question & { kind?: 'batch' })
  | AcceptanceQuestion
  | ShadowQuestion
  | SwitchbackQuestion;

export function answer(question: AnyQuestion, runs: readonly UnitRun[]): string {
  if (question.kind === 'acceptance') return JSON.stringify(acceptanceResults(question, runs));
  if (question.kind === 'shadow') return JSON.stringify(shadowResults(question, runs));
  if (question.kind === 'switchback') return JSON.stringify(switchbackResults(question, runs));
  return JSON.stringify(analyse(question, runs));
}
