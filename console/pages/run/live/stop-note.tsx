import { CANCEL_GRACE_MS } from '@switchyard/contract/limits.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ActiveRun, RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { RunLink } from '../../../ui/run-link.tsx';
import { queueQuery } from '../../queue/queries.ts';

/** What "Stop and keep the best" does: what is kept, what the status becomes, and who gets the slot. */
export function StopNote({ run }: { run: RunInformation }) {
  const { data } = useQuery(queueQuery);
  const waiting = data?.runs.filter(({ status_v2 }) => status_v2 === 'queued');
  const next = waiting?.find(({ waiting: reason }) => isNextFor(run.id, reason));
  return (
    <section aria-labelledby="stop-note">
      <h2 id="stop-note">If you stop now</h2>
      <p className="soft">
        The app gets SIGTERM and has {formatDuration(CANCEL_GRACE_MS)} to print its best output, which is kept
        with its indicators. An app that prints none leaves no output. The run ends as <b>Canceled</b>; it
        keeps its log, and can be shared and compared like any other.{' '}
        {next && (
          <>
            Its slot goes to{' '}
            <RunLink application={next.application_id} run={next.id}>
              <bdi>{next.name || next.id}</bdi>
            </RunLink>
            .
          </>
        )}
        {waiting?.length === 0 && 'No run waits for its slot.'}
      </p>
    </section>
  );
}

/** The first of the queue gets the next free slot that serves it. */
function isNextFor(run: string, waiting: ActiveRun['waiting']): boolean {
  return waiting?.place === 1 && (waiting.slot_holders ?? []).some(({ run_id }) => run_id === run);
}
