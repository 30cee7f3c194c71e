/** The result of an experiment of any type. */

import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import type { IndicatorView } from '@switchyard/contract/experiments/presentation/view-indicator.ts';
import type { TimelineUnit } from '../terminal/pictures/unit-timeline.ts';

/** The comparison of one indicator with what its pictures show. */
export interface PicturedIndicator extends IndicatorView {
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
  indicators: readonly PicturedIndicator[];
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
  /** The decision to release the candidate; absent without a comparison. */
  decision?: Decision;
  /** The earlier looks that the decision does not say. */
  looks?: string;
  /** The decision and the verdict in sentences; empty while there is none. */
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
