/** Computes the results of an experiment of any kind, as JSON. Pure. */
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import { formatResults } from '../store/analysis-method.ts';
import { type AcceptanceResultsRequest, evaluateAcceptanceTest } from './acceptance-evaluation.ts';
import { analyseBatch, type BatchResultsRequest } from './batch-analysis.ts';
import {
  analyseShadowTest,
  analyseSwitchbackTest,
  type ShadowResultsRequest,
  type SwitchbackResultsRequest,
  type UnitObservation,
} from './online-test-analysis.ts';
import { RunReader } from './run-reader.ts';
import { listNamedIndicators } from './select-indicators.ts';

/** A request for the results of an experiment, by its kind. */
export type ResultsRequest =
  | (BatchResultsRequest & { kind?: 'batch' })
  | AcceptanceResultsRequest
  | ShadowResultsRequest
  | SwitchbackResultsRequest;

/** Creates a reader that keeps every indicator that the request names. */
export function createRunReader(request: ResultsRequest): RunReader {
  if (request.kind === 'acceptance')
    return new RunReader(request.definition.metrics.flatMap(({ field }) => listIndicatorNames(field)));
  const settings =
    request.kind === 'shadow' || request.kind === 'switchback' ? request.definition : request.settings;
  return new RunReader(listNamedIndicators(settings));
}

/** Computes the requested results, and returns them as JSON with the method of analysis. */
export function computeResults(
  request: ResultsRequest,
  { runs, isTruncated }: Pick<RunReader, 'runs' | 'isTruncated'>,
): string {
  if (request.kind === 'acceptance') return formatResults(evaluateAcceptanceTest(request, runs));
  const analysis = analyse(request, runs);
  if (isTruncated)
    analysis.warnings.push(
      'Indicators that the fewest runs reported are left out: there are too many numbers.',
    );
  return formatResults(analysis);
}

function analyse(
  request: Exclude<ResultsRequest, AcceptanceResultsRequest>,
  runs: readonly UnitObservation[],
) {
  if (request.kind === 'shadow') return analyseShadowTest(request, runs);
  if (request.kind === 'switchback') return analyseSwitchbackTest(request, runs);
  return analyseBatch(request, runs);
}
