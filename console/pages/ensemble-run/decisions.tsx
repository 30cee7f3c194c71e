import type { RulesResult } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { describeBest } from '@switchyard/contract/runs/presentation/explain-winner.ts';
import { RunLink } from '../../ui/run-link.tsx';
import styles from './ensemble-run-page.module.css';

/** The decision of each rule: the best value, the runs that it retained, and why it dropped the others. */
export function Decisions({ application, result }: { application: string; result: RulesResult }) {
  if (result.decisions.length === 0 && result.left_out.length === 0) return null;
  return (
    <section aria-labelledby="decisions">
      <h2 id="decisions">Decisions of the rules</h2>
      <ol className={styles.decisions}>
        {result.decisions.map((decision) => (
          <li key={decision.rule_id}>
            <p>
              <strong>{decision.rule_id}</strong>{' '}
              {decision.skipped ??
                `retains ${describeBest(decision)}: ${decision.kept.length} of ${decision.considered.length} runs.`}
            </p>
            <ul>
              {decision.dropped.map(({ run_id, why }) => (
                <li key={run_id}>
                  <RunLink application={application} run={run_id}>
                    <code>{run_id}</code>
                  </RunLink>{' '}
                  {why}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {result.left_out.length > 0 && (
        <>
          <h3>Not considered</h3>
          <ul className={styles.reasons}>
            {result.left_out.map(({ run_group_id, repetition, why }) => (
              <li key={`${run_group_id} ${repetition}`}>
                {run_group_id}, repetition {repetition + 1}: {why}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
