/**
 * One error rate for all verdicts of an experiment. With 50 indicators and no correction, 80 % of experiments on equal
 * candidates had at least one wrong verdict.
 *
 * All indicators of all candidates form one family. Holm's step-down rule with weights tests it (Holm, Scandinavian Journal
 * of Statistics 1979), so the chance of even one wrong verdict is at most α. Primary indicators share most of the weight,
 * so that guardrails and other indicators cost them little power.
 */

/** The role of an indicator. Decisions use the primary ones, and guardrails must not get worse. */
export type Role = 'primary' | 'guardrail' | 'other';

const PRIMARY_SHARE = 0.8;
const GUARDRAIL_SHARE = 0.15;
const OTHER_SHARE = 0.05;

/**
 * Returns the weight of each test by its role; weights sum to 1. A role without tests leaves its share to the others. A
 * single primary indicator is therefore tested at the whole α.
 */
export function weighByRole(roles: readonly Role[]): number[] {
  const shares: Record<Role, number> = {
    primary: PRIMARY_SHARE,
    guardrail: GUARDRAIL_SHARE,
    other: OTHER_SHARE,
  };
  const counts: Record<Role, number> = { primary: 0, guardrail: 0, other: 0 };
  for (const role of roles) counts[role] += 1;
  const total = (['primary', 'guardrail', 'other'] as const)
    .filter((role) => counts[role] > 0)
    .reduce((sum, role) => sum + shares[role], 0);
  return roles.map((role) => shares[role] / total / counts[role]);
}

/**
 * Returns the p-values adjusted by Holm's weighted rule, in the same order. An adjusted value of at most α means rejection.
 * Null stays null and has no weight.
 */
export function adjustWeightedHolm(
  pValues: readonly (number | null)[],
  weights: readonly number[],
): (number | null)[] {
  const known = pValues
    .flatMap((p_value, index) => (p_value === null ? [] : [{ p_value, weight: weights[index] ?? 0, index }]))
    .sort((a, b) => a.p_value / a.weight - b.p_value / b.weight);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let remaining = known.reduce((sum, { weight }) => sum + weight, 0);
  let largest = 0;
  for (const { p_value, weight, index } of known) {
    largest = Math.max(largest, Math.min(1, (p_value * remaining) / weight));
    adjusted[index] = largest;
    remaining -= weight;
  }
  return adjusted;
}
