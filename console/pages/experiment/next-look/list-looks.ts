/** How many more inputs would decide each indicator that is undecided. */
import type {
  Comparison,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';

/** The plan of a later look at one indicator. */
export interface NextLook {
  indicator: string;
  /** Inputs or units that count so far. */
  counted: number;
  /** Estimated number of further ones. */
  more: number;
  /** Range of that number; `high` is null for more than 100,000. */
  range: { low: number; high: number | null } | null;
  /** Smallest effect that an experiment of this size finds; null where it is unknown. */
  detectable: number | null;
  measure: NonNullable<Comparison['measure']>;
}

/** Returns the looks by inputs. A decided indicator needs none, and the number may be unknown. */
export function listInputLooks(comparisons: readonly Comparison[]): NextLook[] {
  return comparisons.flatMap((one) =>
    one.more_inputs === null
      ? []
      : [
          {
            indicator: one.indicator,
            counted: one.inputs.usable,
            more: one.more_inputs,
            range: one.more_inputs_range,
            detectable: one.detectable_difference,
            measure: one.measure,
          },
        ],
  );
}

/** Returns the looks by units of a switchback test. */
export function listUnitLooks(comparisons: readonly SwitchbackComparison[]): NextLook[] {
  return comparisons.flatMap(({ indicator, more_units: more, control, candidate, measure }) => {
    if (more === null) return [];
    const counted = control.units.counted + candidate.units.counted;
    return [{ indicator, counted, more, range: null, detectable: null, measure }];
  });
}
