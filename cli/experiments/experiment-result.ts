/** The result of an experiment of any type. */
import type { Effect } from '@switchyard/contract/experiments/presentation/effects.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import type { TimelineUnit } from '../terminal/pictures/unit-timeline.ts';
import type { ExperimentAddress } from './find-experiment.ts';

/** The comparison of one indicator. */
export interface IndicatorView {
  indicator: string;
  role: 'primary' | 'guardrail' | 'other';
  objective: 'minimize' | 'maximize' | 'none';
  verdict: string;
  /** true before the planned end, and for a test that was stopped early. */
  interim: boolean;
  reasons: readonly string[];
  warnings: readonly string[];
  effect: Effect;
  /** Means of both sides. */
  control: number | null;
  candidate: number | null;
  pValue: number | null;
  adjustedPValue: number | null;
  /** Wins, ties and losses by input; absent in a switchback test, whose units are not paired. */
  tally?: { wins: number; ties: number; losses: number };
  /** The inputs with both sides, largest decrease first; absent in a switchback test. */
  pairs?: readonly InputPair[];
  /** The units of a switchback test in the order of time. */
  units?: readonly TimelineUnit[];
}

/** A candidate against the control; the indicators that decide come first. */
export interface ComparedView {
  names: { control: string; candidate: string };
  indicators: readonly IndicatorView[];
}

/** A rule of an acceptance test. */
export interface RuleView {
  rule: string;
  isPassed: boolean;
  reason: string;
  warnings: readonly string[];
}

/** A table of texts, such as the steps of a bisect experiment. */
interface ResultTable {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

export interface ExperimentResult {
  address: ExperimentAddress;
  name: string;
  status: string;
  /** The verdict in sentences; empty while there is none. */
  headlines: readonly string[];
  /** The decision of an acceptance test; null for other types, and while it is undecided. */
  isPassed: boolean | null;
  warnings: readonly string[];
  /** One unit of the comparison in words. */
  unit: 'input' | 'original' | 'unit';
  compared: readonly ComparedView[];
  rules?: readonly RuleView[];
  table?: ResultTable;
  /** The response of the API. */
  body: unknown;
}
