import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { useNow } from '../relative-time.tsx';

type StartRange = NonNullable<Waiting['predicted_start']>;

const SECOND_MS = 1_000;
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Returns the range of a start from now, such as `in 20 s to 3 min 5 s`; in whole seconds, because it is an estimate. */
export function formatStartRange({ earliest, latest }: StartRange, now: number): string {
  const [from = 0, to = 0] = [earliest, latest].map(
    (time) => Math.round((Date.parse(time) - now) / SECOND_MS) * SECOND_MS,
  );
  if (to <= 0) return 'at any moment';
  if (from <= 0) return `within ${formatWhole(to)}`;
  return from === to ? `in ${formatWhole(to)}` : `in ${formatWhole(from)} to ${formatWhole(to)}`;
}

/** Returns a duration without tenths of a second. */
function formatWhole(ms: number): string {
  return formatDuration(ms).replace(/\.0 s$/, ' s');
}

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
  const [earliest, latest] = [range.earliest, range.latest].map((time) => exact.format(Date.parse(time)));
  return (
    <span title={`With a probability of 80 % between ${earliest} and ${latest}`}>
      {formatStartRange(range, now)}
    </span>
  );
}
