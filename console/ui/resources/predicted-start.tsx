import { formatStartRange } from '@switchyard/contract/presentation/format-start-range.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { formatExact } from '../format-exact.ts';
import { useNow } from '../relative-time.tsx';

type StartRange = NonNullable<Waiting['predicted_start']>;

const SECOND_MS = 1_000;

/** Returns why a waiting run has no predicted start. */
export function formatStartAbsence(absence: NonNullable<Waiting['predicted_start_absence']>): string {
  switch (absence) {
    case 'few_past_runs':
      return 'Too few similar past runs';
    case 'shared_resources':
      return 'Unknown: workers divide cores and memory';
    case 'position':
      return 'Too far back';
  }
}

/** The predicted start of a waiting run relative to now, with the exact local times on hover. */
export function PredictedStart({ range }: { range: StartRange }) {
  const now = useNow(SECOND_MS);
  const [earliest, latest] = [range.earliest, range.latest].map((time) => formatExact(Date.parse(time)));
  return (
    <span title={`With a probability of 80 % between ${earliest} and ${latest}`}>
      {formatStartRange(range, now)}
    </span>
  );
}
