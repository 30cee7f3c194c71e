/**
 * Adjustment of unit outcomes for the time of the day, the day and a trend. The leave-one-out error over all units selects
 * the model, without their sides. So under the null hypothesis the residuals are the same for every plan, and the
 * randomisation test stays exact (Zhao and Ding, Journal of Econometrics 2021).
 */
import { mean } from '../numbers.ts';
import type { CoinGroup } from './design.ts';

/** Terms of an additive model of unit outcomes. */
export type Covariate = 'trend' | 'time_of_day' | 'day';

const COVARIATE_MODELS: readonly (readonly Covariate[])[] = [
  [],
  ['trend'],
  ['time_of_day'],
  ['day'],
  ['time_of_day', 'trend'],
  ['time_of_day', 'day'],
];

/** A model of the outcomes of certain units. */
export interface AdjustmentModel {
  covariates: readonly Covariate[];
  /** Orthonormal columns of the model, and the leverage of each unit. */
  basis: readonly Float64Array[];
  leverages: Float64Array;
}

const DAY_MINUTES = 24 * 60;
/** A model may use at most this share of the units as parameters. */
const PARAMETER_SHARE_MAX = 0.5;

/** A model must leave this share of the differences between plans; with less, the standard error of the effect doubles. */
const PLAN_SHARE_MIN = 0.25;

/**
 * Returns the models that have enough units for their parameters and do not fit the sides themselves. With blocks of an hour
 * in one day, the time of the day is the plan, and a clear effect left no estimate. The coins alone decide which models fit
 * the sides, so the randomisation test stays exact.
 * @param units index of each unit with an outcome, in the plan.
 */
export function listModels(
  units: readonly number[],
  { unitMinutes, coins }: { unitMinutes: number; coins: readonly CoinGroup[] },
): AdjustmentModel[] {
  return COVARIATE_MODELS.flatMap((covariates) => {
    const basis = orthonormalBasis(designColumns(units, unitMinutes, covariates));
    if (basis.length > Math.max(1, PARAMETER_SHARE_MAX * units.length)) return [];
    if (covariates.length > 0 && computePlanShare(basis, units, coins) < PLAN_SHARE_MIN) return [];
    const leverages = Float64Array.from(units, (_, index) =>
      basis.reduce((total, direction) => total + (direction[index] ?? 0) ** 2, 0),
    );
    return [{ covariates, basis, leverages }];
  });
}

/** Returns the share of the squared differences between heads and tails that the model does not fit, over all coins. */
function computePlanShare(
  basis: readonly Float64Array[],
  units: readonly number[],
  coins: readonly CoinGroup[],
): number {
  const places = new Map(units.map((unit, place) => [unit, place]));
  let [total, fitted] = [0, 0];
  for (const { first, second } of coins) {
    const signs = [
      ...first.map((unit) => ({ place: places.get(unit), sign: 1 })),
      ...second.map((unit) => ({ place: places.get(unit), sign: -1 })),
    ].flatMap(({ place, sign }) => (place === undefined ? [] : [{ place, sign }]));
    total += signs.length;
    for (const direction of basis)
      fitted += signs.reduce((sum, { place, sign }) => sum + sign * (direction[place] ?? 0), 0) ** 2;
  }
  return total === 0 ? 1 : 1 - fitted / total;
}

/** Returns the model with the smallest leave-one-out error; the earlier one of two that are equal. */
export function chooseModel(
  models: readonly AdjustmentModel[],
  outcomes: Float64Array,
): AdjustmentModel | undefined {
  let best: { error: number; model: AdjustmentModel } | undefined;
  for (const model of models) {
    const error = leaveOneOutError(outcomes, model);
    if (best === undefined || error < best.error * (1 - 1e-9)) best = { error, model };
  }
  return best?.model;
}

/** Returns the values without the part that the model fits. */
export function removeFit(values: Float64Array, { basis }: Pick<AdjustmentModel, 'basis'>): Float64Array {
  return removeProjection(values, basis);
}

function designColumns(
  units: readonly number[],
  unitMinutes: number,
  covariates: readonly Covariate[],
): Float64Array[] {
  const columns = [new Float64Array(units.length).fill(1)];
  const minutes = units.map((unit) => unit * unitMinutes);
  for (const covariate of covariates) {
    if (covariate === 'trend') columns.push(Float64Array.from(minutes));
    else {
      const labels = minutes.map((minute) =>
        covariate === 'day'
          ? Math.floor(minute / DAY_MINUTES)
          : Math.floor((minute % DAY_MINUTES) / Math.max(60, unitMinutes)),
      );
      for (const label of new Set(labels))
        columns.push(Float64Array.from(labels, (one) => (one === label ? 1 : 0)));
    }
  }
  return columns;
}

/** Gram-Schmidt, twice for accuracy; columns that depend on earlier ones are dropped. */
function orthonormalBasis(columns: readonly Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const column of columns) {
    const size = Math.sqrt(dot(column, column));
    const rest = removeProjection(removeProjection(column, basis), basis);
    const left = Math.sqrt(dot(rest, rest));
    if (left > 1e-9 * size) basis.push(rest.map((value) => value / left));
  }
  return basis;
}

function removeProjection(values: Float64Array, basis: readonly Float64Array[]): Float64Array {
  const rest = values.slice();
  for (const direction of basis) {
    const amount = dot(rest, direction);
    for (let index = 0; index < rest.length; index += 1)
      rest[index] = (rest[index] ?? 0) - amount * (direction[index] ?? 0);
  }
  return rest;
}

function dot(a: Float64Array, b: Float64Array): number {
  let total = 0;
  for (let index = 0; index < a.length; index += 1) total += (a[index] ?? 0) * (b[index] ?? 0);
  return total;
}

/** Mean squared error of predicting each outcome from the others (PRESS); infinite where one outcome decides its own fit. */
function leaveOneOutError(outcomes: Float64Array, { basis, leverages }: AdjustmentModel): number {
  const squares = removeProjection(outcomes, basis).map((residual, index) => {
    const leverage = leverages[index] ?? 1;
    return leverage > 1 - 1e-9 ? Number.POSITIVE_INFINITY : (residual / (1 - leverage)) ** 2;
  });
  return mean(squares);
}
