/** Computes the results of an experiment of any kind, as JSON. Pure. */
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import { formatResults } from '../store/analysis-method.ts';
import { type AcceptanceResultsRequest, evaluateAcceptanceTest } from './acceptance-evaluation.ts';
import { analyseBatch } from './batch-analysis.ts';
import { analyseShadowTest, analyseSwitchbackTest, type UnitObservation } from './online-test-analysis.ts';
import { RunReader } from './run-reader.ts';
import { listNamedIndicators } from './select-indicators.ts';
import {
  type ComparedRequest,
  choosePlannedIndicator,
  estimateSpread,
  readSettings,
  type SpreadRequest,
} from './spread-analysis.ts';

/** A request for the results of an experiment, by its kind, or for the spread that its runs show. */
export type ResultsRequest = ComparedRequest | AcceptanceResultsRequest | SpreadRequest;

/** Creates a reader that keeps every indicator that the request names. */
export function createRunReader(request: ResultsRequest): RunReader {
  if (request.kind === 'acceptance')
    return new RunReader(request.definition.metrics.flatMap(({ field }) => listIndicatorNames(field)));
  if (request.kind !== 'spread') return new RunReader(listNamedIndicators(readSettings(request)));
  const settings = readSettings(request.of);
  const planned = listIndicatorNames(choosePlannedIndicator(settings, request.indicator));
  return new RunReader([...listNamedIndicators(settings), ...planned]);
}

/** Computes the requested results, and returns them as JSON with the method of analysis. */
export function computeResults(
  request: ResultsRequest,
  { runs, isTruncated }: Pick<RunReader, 'runs' | 'isTruncated'>,
): string {
  if (request.kind === 'acceptance') return formatResults(evaluateAcceptanceTest(request, runs));
  if (request.kind === 'spread') return JSON.stringify(estimateSpread(request, runs));
  const analysis = analyse(request, runs);
  if (isTruncated)
    analysis.warnings.push(
      'Indicators that the fewest runs reported are left out: there are too many numbers.',
    );
  return formatResults(analysis);
}

function analyse(request: ComparedRequest, runs: readonly UnitObservation[]) {
  if (request.kind === 'shadow') return analyseShadowTest(request, runs);
  if (request.kind === 'switchback') return analyseSwitchbackTest(request, runs);
  return analyseBatch(request, runs);
}
