/** A run of an ensemble as text: the winner with the reason, the decisions of the rules, then the child runs. */
import { distinguish } from '@switchyard/contract/presentation/format-quantity.ts';
import type { EnsembleGain, EnsembleRun } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { describeBest, explainWinner } from '@switchyard/contract/runs/presentation/explain-winner.ts';
import { cleanText } from '../terminal/clean-text.ts';
import type { Style } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';

/** Formats the run. Without an end it has child runs alone. */
export function formatEnsembleRun(run: EnsembleRun, settings: { tableWidth: number; style: Style }): string {
  const { rules_result: result, status_v2: status } = run;
  const reason = result && explainWinner(result);
  const winner = result?.best_run_id
    ? `${result.best_run_id} won. ${reason ?? ''}`.trimEnd()
    : `The ensemble run is ${status} and has no winner. ${run.error}`.trimEnd();
  const gain = result?.gain;
  const lines = [
    settings.style('strong', cleanText(winner)),
    ...(gain ? [cleanText(describeGain(gain))] : []),
    ...(result?.decisions ?? []).flatMap((decision) => [
      cleanText(
        `Rule ${decision.rule_id}: ${decision.skipped ?? `retains ${describeBest(decision)}: ${decision.kept.length} of ${decision.considered.length} runs.`}`,
      ),
      ...decision.dropped.map(({ run_id, why: reason }) => `  ${run_id}: ${cleanText(reason)}`),
    ]),
    ...(result?.left_out ?? []).map(
      ({ run_group_id, repetition, why: reason }) =>
        `Not considered: ${run_group_id}, repetition ${repetition + 1}: ${cleanText(reason)}`,
    ),
  ];
  const table = formatTable(
    run.child_runs,
    {
      RUN: 'id',
      GROUP: 'run_group_id',
      REPETITION: { value: ({ repetition }) => repetition + 1, isNumeric: true },
      STATUS: (child) => child.status_v2,
      RESULT: ({ id, error }) => (id === result?.best_run_id ? 'best run' : error),
    },
    settings,
  );
  return `${lines.join('\n')}\n\n${table}`;
}

function describeGain({ statistics_path, value, best_group }: EnsembleGain): string {
  const format = distinguish([value, best_group.mean]);
  return `It has ${statistics_path} ${format(value)}; a run of the best group, ${best_group.run_group_id}, has ${format(best_group.mean)} on average.`;
}
