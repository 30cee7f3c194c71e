/** Explains in sentences which run of an ensemble the rules selected. */
import { formatNumber } from '../../presentation/format-quantity.ts';
import type { EnsembleDecision, RulesResult } from '../ensemble-schemas.ts';
import { formatTolerance } from './format-tolerance.ts';

/** Returns the reason why the best run was selected; undefined without a best run. */
export function explainWinner({ best_run_id, decisions }: RulesResult): string | undefined {
  if (best_run_id === null) return undefined;
  if (decisions[0]?.considered.length === 1) return 'It is the only run that succeeded.';
  const at = decisions.findIndex(({ kept, considered }) => kept.length === 1 && considered.length > 1);
  const decisive = decisions[at];
  if (!decisive) {
    const ties = decisions.at(-1)?.kept.length ?? 0;
    return `${ties} runs are equal under every rule, and it is the first of them in the order of the groups.`;
  }
  const scope =
    at === 0
      ? `Of ${decisive.considered.length} runs`
      : `Rule ${at + 1} decided: of ${decisive.considered.length} equal runs`;
  return `${scope}, it alone has ${describeBest(decisive)}.`;
}

/** Returns the best value that a rule compared with, such as `the lowest result.value, 812.4`. */
export function describeBest({ objective, statistics_path, best, tolerance }: EnsembleDecision): string {
  const superlative = objective === 'minimize' ? 'the lowest' : 'the highest';
  const name = statistics_path.replace(/^\$\./, '');
  const value = best === null ? '' : `, ${formatNumber(best)}`;
  const range = formatTolerance(tolerance);
  return `${superlative} ${name}${value}${range && `, or a value ${range}`}`;
}
