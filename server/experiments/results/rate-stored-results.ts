/** The verdict of the stored results of an experiment, from their JSON. */
import { RatedResults, rateResults } from '@switchyard/contract/experiments/rate-results.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';

const parseResults = createJsonParser(RatedResults);

/** Returns the verdict in JSON: `null` for results without a comparison. */
export function rateStoredResults(results: string): string {
  return JSON.stringify(rateResults(parseResults(results, 'experiment_results.results')));
}
