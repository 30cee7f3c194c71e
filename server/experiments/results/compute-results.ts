/** Computes the results of an experiment of any kind, as JSON. Pure. */
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import { type AcceptanceResultsRequest, evaluateAcceptanceTest } from './acceptance-evaluation.ts';
import { analyseBatch, type BatchResultsRequest } from './batch-analysis.ts';
import { indexObjectivesByName } from './objective-names.ts';
import {
  analyseShadowTest,
  analyseSwitchbackTest,
  type ShadowResultsRequest,
  type SwitchbackResultsRequest,
  type UnitObservation,
} from './online-test-analysis.ts';
import { RunReader } from './run-reader.ts';

/** A request for the results of an experiment, by its kind. */
export type ResultsRequest =
  | (BatchResultsRequest & { kind?: 'batch' })
  | AcceptanceResultsRequest
  | ShadowResultsRequest
  | SwitchbackResultsRequest;

/** Creates a reader that keeps every indicator that the request names. */
export function createRunReader(question: ResultsRequest): RunReader {
  if (question.kind === 'acceptance')
    return new RunReader(question.definition.metrics.flatMap(({ field }) => listIndicatorNames(field)));
  const { objectives } =
    question.kind === 'shadow' || question.kind === 'switchback' ? question.definition : question;
  return new RunReader(indexObjectivesByName(objectives ?? {}).keys());
}

/** Computes the requested results, and returns them as JSON. */
export function computeResults(
  question: ResultsRequest,
  { runs, isTruncated: isCut }: Pick<RunReader, 'runs' | 'isTruncated'>,
): string {
  if (question.kind === 'acceptance') return JSON.stringify(evaluateAcceptanceTest(question, runs));
  const found = analyse(question, runs);
  if (isCut)
    found.warnings.push('Indicators that the fewest runs reported are left out: there are too many numbers.');
  return JSON.stringify(found);
}

function analyse(
  question: Exclude<ResultsRequest, AcceptanceResultsRequest>,
  runs: readonly UnitObservation[],
) {
  if (question.kind === 'shadow') return analyseShadowTest(question, runs);
  if (question.kind === 'switchback') return analyseSwitchbackTest(question, runs);
  return analyseBatch(question, runs);
}
