import type { StepTarget } from '@switchyard/contract/runs/presentation/explain-failure.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { useFailure } from '../log/use-failure.ts';
import styles from './failure-steps.module.css';

const TABS = {
  log: 'Open the log',
  resources: 'Open the resources',
  input: 'Open the input',
  output: 'Open the output',
} as const;

/** What to do about a failed run: a step for each remedy of its cause. */
export function FailureSteps({ run }: { run: RunInformation }) {
  const { steps } = useFailure(run);
  if (run.status_v2 !== 'failed' || steps.length === 0) return null;
  return (
    <section aria-labelledby="what-to-do">
      <h2 id="what-to-do">What to do</h2>
      <ol className={styles.steps}>
        {steps.map(({ title, text, target }) => (
          <li key={title}>
            <div>
              <strong>{title}</strong>
              <p>{text}</p>
            </div>
            {target && <StepLink run={run} target={target} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function StepLink({ run, target }: { run: RunInformation; target: StepTarget }) {
  const { application_id: application, application_instance_id: instance, id } = run;
  if (target === 'run-again')
    return (
      <LinkButton to="/apps/$application/new-run" params={{ application }} search={{ from: id }}>
        Change and run again
      </LinkButton>
    );
  if (target === 'workers') return <LinkButton to="/workers">Open the workers</LinkButton>;
  if (target === 'instance')
    return instance === '' || instance === 'latest' ? null : (
      <LinkButton to="/apps/$application/instances/$instance" params={{ application, instance }}>
        Open the instance
      </LinkButton>
    );
  return (
    <LinkButton to="/apps/$application/runs/$run" params={{ application, run: id }} search={{ tab: target }}>
      {TABS[target]}
    </LinkButton>
  );
}
