/** The fields that are one text or one choice: their words, their first value, and their place in a request. */
import type { FormField } from '@switchyard/contract/experiment-types/descriptor.ts';
import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { findSecondsError, parseSeconds } from '../../ui/forms/seconds/parse-seconds.ts';
import { splitList } from '../../ui/forms/split-text.ts';
import { PRIORITIES } from '../../ui/resources/priorities.ts';
import type { Choices } from './queries.ts';

/** How a text becomes a value of the API, and the value of an earlier experiment the text. */
interface Codec {
  write(text: string): unknown;
  read(value: unknown): string;
}

/** Returns a share: `5` percent is 0.05, without the rounding error of a division. */
export function readPercent(text: string): number {
  return Number((Number(text) / 100).toPrecision(12));
}

/** Returns a share in percent, without the rounding error of the product. */
export function toPercentText(share: number): string {
  return String(Number((share * 100).toPrecision(12)));
}

const WORD: Codec = { write: (text) => text, read: String };
const NUMBER: Codec = { write: Number, read: String };
const PERCENT: Codec = { write: readPercent, read: (share) => toPercentText(Number(share)) };
const LIST: Codec = {
  write: splitList,
  read: (items) => (Array.isArray(items) ? items.join(', ') : ''),
};
/** In UTC; the text itself if it is no time, which the server refuses. Times of an earlier test are over. */
const TIME: Codec = {
  write(text) {
    const time = new Date(text);
    return Number.isNaN(time.getTime()) ? text : time.toISOString();
  },
  read: () => '',
};
const SECONDS: Codec = {
  write(text) {
    const error = findSecondsError(text);
    if (error !== null) throw new SyntaxError(error);
    return parseSeconds(text);
  },
  read: String,
};
const PRIORITY: Codec = { ...NUMBER, read: (value) => (value === PRIORITY_MAX ? '' : String(value)) };

/** The unit of an amount: a part of the draft. */
type UnitName = 'marginType' | 'differenceType';

export interface DraftField {
  label: string;
  help?: string;
  /** The first value. A request has the field only with another one, unless `isRequired`. */
  initial: string;
  isRequired?: true;
  /** The path in the body of the request, and in the experiment. */
  at: string;
  as: Codec;
  /** An amount has a unit, which is a share or the unit of the indicator. */
  unit?: { name: UnitName; label: string; relative: string };
  options?: (choices: Choices) => readonly (string | { value: string; label: string })[];
  /** Lines of a long text. */
  rows?: number;
}

export const FIELDS = {
  repetitions: {
    label: 'Repetitions',
    help: 'Runs of each input on each side. Repetitions help where equal runs differ.',
    ...{ initial: '1', at: 'repetitions', as: NUMBER },
  },
  seeds: {
    label: 'Seeds',
    help: 'Such as 1, 2, 3: one repetition with each, in place of the number of repetitions.',
    ...{ initial: '', at: 'seeds', as: LIST },
  },
  seedOption: {
    label: 'Option that gets the seed',
    ...{ initial: 'seed', at: 'seed_option', as: WORD },
  },
  features: {
    label: 'Features of the inputs',
    help: 'Such as bytes, /stops: the results show the effect by each. The verdict stays the same.',
    ...{ initial: '', at: 'features', as: LIST },
  },
  clusterBy: {
    label: 'Clusters of the inputs',
    help: 'Such as caller, /depot: inputs with the same value may resemble each other.',
    ...{ initial: '', at: 'cluster_by', as: LIST },
  },
  failureMargin: {
    label: 'Accepted failures, % of inputs',
    help: 'Inputs that the candidate may lose more than the control; the default is none.',
    ...{ initial: '', at: 'failure_margin', as: PERCENT },
  },
  margin: {
    label: 'Margin',
    help: 'Differences up to it count as equivalent.',
    unit: { name: 'marginType', label: 'Unit of the margin', relative: '% of the control' },
    ...{ initial: '1', at: 'margin', as: NUMBER },
  },
  measure: {
    label: 'Compare values by',
    options: () => [
      { value: 'auto', label: 'Ratios if every value is above 0' },
      { value: 'relative', label: 'Ratios' },
      { value: 'absolute', label: 'Differences' },
    ],
    ...{ initial: 'auto', at: 'measure', as: WORD },
  },
  shift: {
    label: 'Shift',
    help: 'Added to every value before a ratio, such as 10 for seconds.',
    ...{ initial: '0', at: 'shift', as: NUMBER },
  },
  tieTolerance: {
    label: 'Ties, % of the larger value',
    help: 'Values that differ by at most so much are equal, such as by the tolerance of the solver; the default is 0.0000001.',
    ...{ initial: '', at: 'tie_tolerance', as: PERCENT },
  },
  largestLoss: {
    label: 'Largest change of one input, % of the control',
    help: 'If you know one: it gives an interval where most inputs tie.',
    ...{ initial: '', at: 'largest_loss', as: PERCENT },
  },
  maximumRuns: {
    label: 'Copied runs, at most',
    help: 'The test ends after so many runs of the baseline.',
    ...{ initial: '100', isRequired: true, at: 'termination_events.maximum_runs', as: NUMBER },
  },
  sampleShare: {
    label: 'Share of runs to copy, %',
    help: 'A smaller share spreads the copies over a longer time.',
    ...{ initial: '100', at: 'sample_share', as: PERCENT },
  },
  copyFrom: {
    label: 'Copy runs from',
    help: 'Your local time; the default is the start of the test.',
    ...{ initial: '', at: 'start_events.time', as: TIME },
  },
  copyUntil: { label: 'Copy runs until', initial: '', at: 'termination_events.time', as: TIME },
  originalClusters: {
    label: 'Clusters of the originals',
    help: 'Such as caller, day: originals with the same value may resemble each other.',
    ...{ initial: 'caller', at: 'cluster_by', as: LIST },
  },
  units: {
    label: 'Units',
    ...{ initial: '20', isRequired: true, at: 'generate_random_plan.units', as: NUMBER },
  },
  unitMinutes: {
    label: 'Minutes of a unit',
    ...{ initial: '60', isRequired: true, at: 'generate_random_plan.unit_duration_minutes', as: NUMBER },
  },
  carryOverUnits: {
    label: 'Carry-over, units',
    help: 'They do not count, because the instance before may still have an effect.',
    ...{ initial: '1', isRequired: true, at: 'generate_random_plan.carry_over_units', as: NUMBER },
  },
  burnInMinutes: {
    label: 'Burn-in, minutes',
    help: 'Runs at the start of each unit that do not count.',
    ...{ initial: '0', at: 'generate_random_plan.burn_in_minutes', as: NUMBER },
  },
  planStart: {
    label: 'Start of the first unit',
    help: 'Your local time; the default is the start of the test.',
    ...{ initial: '', at: 'generate_random_plan.start', as: TIME },
  },
  design: {
    label: 'Design',
    options: () => [
      { value: 'blocked', label: 'Blocked: both serve the same hours equally often' },
      { value: 'independent', label: 'Independent: one coin for each unit' },
      { value: 'regular', label: 'Regular: one coin for several units' },
    ],
    ...{ initial: 'blocked', isRequired: true, at: 'generate_random_plan.design', as: WORD },
  },
  goodVersion: {
    label: 'Good version',
    options: ({ versions }) => versions,
    ...{ initial: '', isRequired: true, at: 'good_version_id', as: WORD },
  },
  badVersion: {
    label: 'Bad version',
    help: 'A later version, whose results are worse.',
    options: ({ versions }) => versions,
    ...{ initial: '', isRequired: true, at: 'bad_version_id', as: WORD },
  },
  control: {
    label: 'Configuration of',
    help: 'The instance whose options the runs have.',
    options: ({ instances }) => instances,
    ...{ initial: 'latest', at: 'instance_id', as: { ...WORD, read: (id) => String(id ?? 'latest') } },
  },
  difference: {
    label: 'Difference that matters',
    help: 'A smaller one needs more runs.',
    unit: { name: 'differenceType', label: 'Unit of the difference', relative: '% of the good version' },
    ...{ initial: '5', isRequired: true, at: 'difference', as: NUMBER },
  },
  confidence: {
    label: 'Confidence, %',
    help: 'Probability with which the version found is right.',
    ...{ initial: '95', at: 'confidence', as: PERCENT },
  },
  raceConfidence: {
    label: 'Confidence, %',
    help: 'Probability with which a race keeps the best configuration.',
    ...{ initial: '95', at: 'confidence', as: PERCENT },
  },
  priority: {
    label: 'Queue priority',
    help: `${PRIORITY_MIN} runs first. The default is ${PRIORITY_MAX}, the last, whatever the instances say.`,
    options: () => [
      { value: '', label: `${PRIORITY_MAX} (default)` },
      ...PRIORITIES.filter((priority) => priority !== PRIORITY_MAX).map(String),
    ],
    ...{ initial: '', at: 'priority', as: PRIORITY },
  },
  maxDuration: {
    label: 'Maximum duration of a run, s',
    help: 'At most that of the execution class. Empty: that of the instance, or else of the class.',
    ...{ initial: '', at: 'max_duration', as: SECONDS },
  },
  searchRuns: {
    label: 'Maximum number of runs',
    help: 'The search ends there; the default is the largest number.',
    ...{ initial: '', at: 'maximum_runs', as: NUMBER },
  },
} satisfies Record<string, DraftField>;

export type FieldName = keyof typeof FIELDS;

/** Their values, and the units of amounts. */
export type FieldTexts = Record<FieldName, string> & Record<UnitName, 'relative' | 'absolute'>;

/** The fields of each group. Groups that are no single texts have components of their own. */
export const GROUPS: Partial<Record<FormField, readonly FieldName[]>> = {
  repetitions: ['repetitions'],
  seeds: ['seeds', 'seedOption'],
  inputProperties: ['features', 'clusterBy'],
  failureMargin: ['failureMargin'],
  comparison: ['measure', 'shift'],
  ties: ['tieTolerance', 'largestLoss'],
  copies: ['maximumRuns', 'sampleShare', 'copyFrom', 'copyUntil', 'originalClusters'],
  units: ['units', 'unitMinutes', 'carryOverUnits', 'burnInMinutes', 'planStart', 'design'],
  versions: ['goodVersion', 'badVersion', 'control', 'difference'],
  confidence: ['confidence'],
  race: ['raceConfidence'],
  runSettings: ['priority', 'maxDuration'],
  searchRuns: ['searchRuns'],
};

/** Returns the control of the field. */
export function chooseControl(field: DraftField): 'select' | 'seconds' | 'time' | 'text' {
  if (field.options) return 'select';
  if (field.as === SECONDS) return 'seconds';
  return field.as === TIME ? 'time' : 'text';
}

/** Returns an amount as the API has it: a share of the control, or a number in the unit of the indicator. */
export function readAmount(type: 'relative' | 'absolute', text: string) {
  return { type, value: type === 'relative' ? readPercent(text) : Number(text) };
}

/** Returns a margin, tolerance or difference in the unit that the form shows. */
export function formatAmount({ type, value }: { type: string; value: number }) {
  const isAbsolute = type === 'absolute';
  return {
    type: isAbsolute ? ('absolute' as const) : ('relative' as const),
    text: isAbsolute ? String(value) : toPercentText(value),
  };
}

type Values = Record<string, unknown>;

/** Returns the part of a request that the fields are. Throws a SyntaxError for a value that has no meaning. */
export function buildFields(draft: FieldTexts, names: readonly FieldName[]): Values {
  const body: Values = {};
  for (const name of names) {
    const { initial, isRequired, at, as, unit }: DraftField = FIELDS[name];
    const text = draft[name].trim();
    const type = unit && draft[unit.name];
    if (!isRequired && text === initial && type !== 'absolute') continue;
    const [last = '', ...folders] = at.split('.').toReversed();
    const target = folders.toReversed().reduce<Values>((values, key) => {
      const inner = isRecord(values[key]) ? values[key] : {};
      values[key] = inner;
      return inner;
    }, body);
    target[last] = type === undefined ? as.write(text) : readAmount(type, text);
  }
  return body;
}

/** Returns the texts of the fields that the values of an experiment have. */
export function readFields(values: object, names: readonly FieldName[]): Partial<FieldTexts> {
  const texts: Partial<FieldTexts> = {};
  for (const name of names) {
    const { at, as, unit }: DraftField = FIELDS[name];
    const value = at
      .split('.')
      .reduce<unknown>((found, key) => (isRecord(found) ? found[key] : undefined), values);
    if (value === undefined || value === null || as === TIME) continue;
    texts[name] = as.read(value);
    if (unit && isRecord(value)) {
      const amount = formatAmount({ type: String(value.type), value: Number(value.value) });
      texts[name] = amount.text;
      texts[unit.name] = amount.type;
    }
  }
  return texts;
}
