/** A run of an ensemble as text: the winner with the reason, the decisions of the rules, then the child runs. */
import { formatSignificant } from '@switchyard/contract/presentation/format-quantity.ts';
import type { EnsembleRun } from '@switchyard/contract/runs/ensemble-schemas.ts';
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
    ...(gain
      ? [
          cleanText(
            `It has ${gain.statistics_path} ${formatSignificant(gain.value, 6)}; a run of the best group, ${gain.best_group.run_group_id}, has ${formatSignificant(gain.best_group.mean, 6)} on average.`,
          ),
        ]
      : []),
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
    [
      { title: 'RUN', value: ({ id }) => id },
      { title: 'GROUP', value: ({ run_group_id }) => run_group_id },
      { title: 'REPETITION', value: ({ repetition }) => repetition + 1, isNumeric: true },
      { title: 'STATUS', value: (child) => child.status_v2 },
      { title: 'RESULT', value: ({ id, error }) => (id === result?.best_run_id ? 'best run' : error) },
    ],
    settings,
  );
  return `${lines.join('\n')}\n\n${table}`;
}
