/**
 * Draws the performance profiles of a batch experiment, for the page about them. The data are the result of its example:
 *
 *     node site/pictures/experiments/profiles-diagram.ts reduce result.json > site/pictures/experiments/profiles.json
 *     node site/pictures/experiments/profiles-diagram.ts draw > site/content/using-switchyard/experiments/profiles.svg
 */
import { readFileSync } from 'node:fs';
import storedProfiles from './profiles.json' with { type: 'json' };

/** The profile of one option set: from `x` times the best value on, the share of inputs is `share`. */
export interface Profile {
  option_set: string;
  wins: number;
  gap_to_best: number;
  performance: { x: number; share: number }[];
}

const width = 380;
const plot = { left: 62, right: 372, top: 16, bottom: 136 };
const RATIO_MAX = 1.2;
const RATIO_TICKS = [1, 1.05, 1.1, 1.15, 1.2];
const SHARE_TICKS = [0, 0.5, 1];
const LEGEND = { y: 204, apart: 104, line: 22 };

const round = (number: number) => Math.round(number * 10) / 10;
const toX = (ratio: number) => round(plot.left + ((ratio - 1) / (RATIO_MAX - 1)) * (plot.right - plot.left));
const toY = (share: number) => round(plot.bottom - share * (plot.bottom - plot.top));
const formatPercent = (share: number) => `${Math.round(100 * share)} %`;

function drawCurve({ option_set, performance }: Profile, index: number): string {
  const steps = performance.map(({ x, share }) => `H${toX(x)}V${toY(share)}`).join('');
  const path = `M${plot.left} ${plot.bottom}${steps}H${plot.right}`;
  return `  <g class="route-${index + 1}" data-profile="${option_set}"><path class="route" d="${path}" /></g>`;
}

function drawLegend({ option_set }: Profile, index: number): string {
  const x = plot.left + index * LEGEND.apart;
  return [
    `  <g class="route-${index + 1}"><path class="route" d="M${x} ${LEGEND.y - 4}h${LEGEND.line}" /></g>`,
    `  <text x="${x + LEGEND.line + 28}" y="${LEGEND.y}">${option_set}</text>`,
  ].join('\n');
}

/** Draws one step curve for each profile, at most three, with the names below. */
export function drawProfiles(profiles: readonly Profile[]): string {
  const ticks = [
    ...SHARE_TICKS.flatMap((share) => [
      `  <path class="grid-line" d="M${plot.left} ${toY(share)}H${plot.right}" />`,
      `  <text x="30" y="${round(toY(share) + 4)}">${formatPercent(share)}</text>`,
    ]),
    ...RATIO_TICKS.map(
      (ratio) =>
        `  <text x="${Math.min(toX(ratio), width - 22)}" y="${plot.bottom + 20}">${formatPercent(ratio - 1)}</text>`,
    ),
  ];
  return `<svg aria-hidden="true" viewBox="0 0 ${width} 214">
${ticks.join('\n')}
${profiles.map(drawCurve).join('\n')}
  <text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 42}">above the best value of the day, at most</text>
${profiles.map(drawLegend).join('\n')}
</svg>`;
}

/** Reads the stored profiles. */
export function readProfiles(): Profile[] {
  return storedProfiles;
}

if (import.meta.main) {
  const [command, path = ''] = process.argv.slice(2);
  if (command === 'reduce') {
    const { profiles }: { profiles: { groups: Profile[] }[] } = JSON.parse(readFileSync(path, 'utf8'));
    const groups = profiles[0]?.groups ?? [];
    const reduced = groups.map(({ option_set, wins, gap_to_best, performance }) => ({
      ...{ option_set, wins, gap_to_best, performance },
    }));
    console.log(JSON.stringify(reduced, null, 2));
  } else console.log(drawProfiles(readProfiles()));
}
