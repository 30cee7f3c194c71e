/** The places of the configurations of a race, with the reason why one was dropped. */
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Group } from '@switchyard/contract/experiments/presentation/group-labels.ts';

/** The place of one configuration. */
export interface Standing {
  name: string;
  status: 'control' | 'finished' | 'running' | 'dropped';
  /** Distinct inputs that count for it. */
  inputs: number;
  droppedAfter: number | null;
  /** Name of the configuration that is shown better; null while it is in the race. */
  against: string | null;
  /** Evidence that it is not the best; null for the control, which always stays. */
  eValue: number | null;
  threshold: number | null;
}

const STATUS_ORDER: readonly Standing['status'][] = ['control', 'finished', 'running', 'dropped'];

/**
 * Returns the standings: the control, those that stay by their evidence, and those that were dropped, the last one first.
 * `inputs` counts those of the control.
 */
export function listStandings(
  compared: readonly ComparedGroups[],
  { inputs, nameGroup }: { inputs: number; nameGroup: (group: Group) => string },
): Standing[] {
  const [first] = compared;
  if (!first) return [];
  const control: Standing = {
    name: nameGroup(first.control),
    status: 'control',
    inputs,
    droppedAfter: null,
    against: null,
    eValue: null,
    threshold: null,
  };
  const others = compared.flatMap(({ candidate, racing }): Standing[] =>
    racing === undefined
      ? []
      : [
          {
            name: nameGroup(candidate),
            status: racing.status,
            inputs: racing.inputs,
            droppedAfter: racing.dropped_after_inputs,
            against: racing.against && nameGroup(racing.against),
            eValue: racing.e_value,
            threshold: racing.threshold,
          },
        ],
  );
  const rank = ({ status }: Standing): number => STATUS_ORDER.indexOf(status);
  return [control, ...others].toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      (other.droppedAfter ?? 0) - (one.droppedAfter ?? 0) ||
      (one.eValue ?? 0) - (other.eValue ?? 0),
  );
}
