/** The verdict of an experiment of any type. Lists and pages have it from here, so that they agree. */
import type {
  ExperimentAddress,
  ExperimentBody,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { viewExperiment } from '@switchyard/contract/views/experiment-view.ts';
import { describeAcceptance } from './describe-acceptance.ts';
import { describeSearch } from './describe-search.ts';
import { describeVerdict, type Verdict } from './describe-verdict.ts';

/** Returns the verdict; null before anything can be compared. */
export function describeExperiment(
  address: ExperimentAddress,
  body: ExperimentBody,
  nameIndicator: (indicator: string) => string = String,
): Verdict | null {
  if ('metrics' in body) return describeAcceptance(body, nameIndicator);
  if ('posterior' in body) return describeSearch(body);
  const { compared, unit } = viewExperiment(address, body);
  const isRunning = body.status === 'started';
  return describeVerdict({ ...{ decision: body.decision, compared, isRunning, unit, nameIndicator } });
}
