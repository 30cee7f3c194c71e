import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { FactList } from '../facts.tsx';
import { RunLink } from '../run-link.tsx';

interface Holder {
  run_id: string;
  application_id: string;
}

/** The labels, licence tokens and slots that a waiting run lacks, with links to the runs that have them. */
export function WaitingFacts({ waiting }: { waiting: Waiting }) {
  const { required_labels: labels = [], licenses = [], slot_holders: slots = [] } = waiting;
  return (
    <FactList
      facts={[
        ['Required labels', labels.join(' ')],
        ...licenses.map(
          ({ name, required, total, used, holders }) =>
            [
              `Licence ${name}`,
              <span key={name}>
                requires {required}, {used} of {total} in use <Holders runs={holders} />
              </span>,
            ] as const,
        ),
        ['Runs in the slots', slots.length > 0 && <Holders key="slots" runs={slots} />],
      ]}
    />
  );
}

function Holders({ runs }: { runs: readonly Holder[] }) {
  return runs.map(({ run_id, application_id }) => (
    <span key={run_id}>
      <RunLink application={application_id} run={run_id}>
        {run_id}
      </RunLink>{' '}
    </span>
  ));
}
