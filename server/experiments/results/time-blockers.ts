/**
 * Reasons without a verdict on time. A time measures the machine as well as the app, so the two sides must have run in
 * randomised blocks, on the same hosts, at the same load. The signed-rank test compares each condition within the blocks. It
 * is exact, because a fair coin decided the order in each block. Pure.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { mean } from '../statistics/numbers.ts';
import type { Observation, RunStart } from '../statistics/observations.ts';
import type { FamilyGroup } from '../statistics/paired/family.ts';
import { testScoredRanks } from '../statistics/paired/signed-rank.ts';
import { TOTAL_DURATION } from './ensemble-runs.ts';

/** Below it a condition differs between the sides beyond chance. */
const CONDITION_ALPHA = 0.001;

/** Last part of a name below `run`, such as `run.duration` or `run.custom.solve_seconds`. */
const TIME_OF_RUN = /(duration|time|elapsed|seconds|millis|_ms$|cpu|wall)/i;
/** Last part of any other name. Travel times and the like measure the solution, so a bare `time` or `duration` does not count. */
const TIME_ELSEWHERE =
  /^((solve|solver|solving|run|wall|wall_?clock|cpu|execution|queue|computation|compute|processing|elapsed)[_-]?(time|duration|seconds|ms|millis)|runtime|elapsed)$/i;

/** Returns true for an indicator that measures the time of a run. */
export function isTimeIndicator(indicator: string): boolean {
  const path = indicator.replace(/^\$\./, '').replace(/^(statistics|metrics)\./, '');
  const last = path.slice(path.lastIndexOf('.') + 1);
  return path.startsWith('run.') ? TIME_OF_RUN.test(last) : TIME_ELSEWHERE.test(last);
}

/** Returns the function that gives the reasons without a verdict on an indicator of a group; it tests each group once. */
export function createTimeBlockers(): (indicator: string, group: FamilyGroup) => readonly string[] {
  const known = new Map<FamilyGroup, readonly string[]>();
  return (indicator, group) => {
    if (!isTimeIndicator(indicator)) return [];
    const blockers = known.get(group) ?? explainConfounding(group);
    known.set(group, blockers);
    return indicator === TOTAL_DURATION ? blockers : [...blockers, ...explainWaiting(group)];
  };
}

/** Returns the reasons why the times of the two sides cannot be compared. */
export function explainConfounding({ control, candidate }: FamilyGroup): string[] {
  const succeeded = [control, candidate].map((runs) => runs.filter(({ status }) => status === 'succeeded'));
  const [controls = [], candidates = []] = succeeded;
  const outside = [...controls, ...candidates].filter(
    ({ start, block }) => !start || (block ?? null) === null,
  ).length;
  if (outside > 0)
    return [
      `${formatCount(outside, 'run')} did not start in the random order of the experiment (they joined, or ran elsewhere), so times are not comparable.`,
    ];
  const starts = listStarts(controls);
  const others = listStarts(candidates);
  const blocks = pairBlocks(starts, others);
  return [
    ...explainHosts(starts, others, blocks),
    ...explainDifference(blocks, 'started earlier or later', ({ started_at }) => started_at, Math.sign),
    ...explainDifference(blocks, 'ran beside more other runs', ({ concurrent_runs }) => concurrent_runs),
    ...explainDifference(blocks, 'started at another load of the host', ({ load }) => load),
  ];
}

/** Explains ensemble runs whose duration depends on the number of free slots; the sum of their runs' durations does not. */
function explainWaiting({ control, candidate }: FamilyGroup): string[] {
  const waited = [...control, ...candidate].filter(
    ({ status, start }) => status === 'succeeded' && start?.has_waited,
  ).length;
  return waited === 0
    ? []
    : [
        `Child runs of ${formatCount(waited, 'ensemble run')} started after another child run had ended, so its duration depends on the free slots. Compare ${TOTAL_DURATION}.`,
      ];
}

type BlockStart = RunStart & { block: number };

function listStarts(runs: readonly Observation[]): BlockStart[] {
  return runs.flatMap(({ start, block }) =>
    start && typeof block === 'number' ? [{ ...start, block }] : [],
  );
}

/** The starts of both sides in a block. */
interface StartPair {
  control: RunStart[];
  candidate: RunStart[];
}

function pairBlocks(controls: readonly BlockStart[], candidates: readonly BlockStart[]): StartPair[] {
  const blocks = new Map<number, StartPair>();
  for (const [side, starts] of [
    ['control', controls],
    ['candidate', candidates],
  ] as const)
    for (const start of starts) {
      const pair = blocks.get(start.block) ?? { control: [], candidate: [] };
      blocks.set(start.block, pair);
      pair[side].push(start);
    }
  return [...blocks.values()].filter(({ control, candidate }) => control.length > 0 && candidate.length > 0);
}

/** Explains hosts that the sides used in unequal shares: without a host in common, or by the test of each host. */
function explainHosts(
  controls: readonly RunStart[],
  candidates: readonly RunStart[],
  blocks: readonly StartPair[],
): string[] {
  const used = new Set(controls.map(({ host }) => host));
  const hosts = new Set([...controls, ...candidates].map(({ host }) => host));
  if (controls.length === 0 || candidates.length === 0 || hosts.size < 2) return [];
  if (!candidates.some(({ host }) => used.has(host)))
    return ['The two sides ran on different hosts, so times are not comparable.'];
  const pValues = [...hosts].map((name) => testBlocks(blocks, ({ host }) => (host === name ? 1 : 0)));
  const least = Math.min(...pValues) * hosts.size;
  return least < CONDITION_ALPHA
    ? [
        `The two sides used ${hosts.size} hosts in unequal shares (p = ${formatEvidence(least)}), so times are not comparable.`,
      ]
    : [];
}

/** Returns the sentence about a condition that differs between the sides beyond chance. */
function explainDifference(
  blocks: readonly StartPair[],
  text: string,
  readValue: (start: RunStart) => number,
  score: (difference: number) => number = (difference) => difference,
): string[] {
  const p = testBlocks(blocks, readValue, score);
  return p < CONDITION_ALPHA
    ? [`The runs of one side ${text} (p = ${formatEvidence(p)}), so times are not comparable.`]
    : [];
}

/** Returns the p-value of equal conditions on both sides; 1 with too few blocks that differ. */
function testBlocks(
  blocks: readonly StartPair[],
  readValue: (start: RunStart) => number,
  score: (difference: number) => number = (difference) => difference,
): number {
  const differences = blocks.map(({ control, candidate }) =>
    score(mean(candidate.map(readValue)) - mean(control.map(readValue))),
  );
  return testScoredRanks(Float64Array.from(differences)).p_value ?? 1;
}
