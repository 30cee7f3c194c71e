/**
 * Draws a finished switchback test: the plan as a train that changes tracks, and the mean of each unit below, faint for a
 * unit that does not count. It was a real test of the sample app for routing, with units of a minute. Its reduced result is
 * in the file next to this one:
 *
 *     curl -H "Authorization: Bearer $TOKEN" "$URL/v1/applications/vehicle-routing/experiments/switchback/more-search" |
 *       node site/pictures/switchback-diagram.ts reduce > site/pictures/switchback-test.json
 *     node site/pictures/switchback-diagram.ts draw > site/content/using-switchyard/experiments/switchback.svg
 */
import { readFileSync } from 'node:fs';
import result from './switchback-test.json' with { type: 'json' };

interface SideOfUnits {
  mean: number;
  units: { total: number; usable: number; counted: number };
}

export interface SwitchbackResult {
  comparison: { baseline_instance_id: string; candidate_instance_id: string };
  plan: { seed: string; units: { index: number; duration_minutes: number; instance_id: string }[] };
  compared: {
    indicator: string;
    verdict: string;
    reasons: string[];
    control: SideOfUnits;
    candidate: SideOfUnits;
    units: { index: number; instance_id: string; runs: number; mean: number; counted: boolean }[];
    geometric_mean_ratio: { value: number; interval: { low: number; high: number } };
    adjusted_for: string[];
    randomization: { p_value: number; p_value_holm: number; method: string; assignments: number };
  }[];
}

const width = 380;
const names = 76;
const tracks = { baseline: 30, candidate: 70 };
const means = { top: 126, bottom: 216 };

/** Selects the fields that the picture or the page uses, of `result.value` alone. */
function reduceResult({ comparison, plan, compared }: SwitchbackResult): SwitchbackResult {
  const cost = compared.find(({ indicator }) => indicator === 'result.value');
  if (!cost) throw new Error('The result compares no result.value; use a test that does.');
  const { indicator, verdict, reasons, control, candidate, units, randomization } = cost;
  const { geometric_mean_ratio, adjusted_for } = cost;
  const { p_value, p_value_holm, method, assignments } = randomization;
  return {
    comparison,
    plan: { seed: plan.seed, units: plan.units },
    compared: [
      {
        ...{ indicator, verdict, reasons, units, geometric_mean_ratio, adjusted_for },
        control: { mean: control.mean, units: control.units },
        candidate: { mean: candidate.mean, units: candidate.units },
        randomization: { p_value, p_value_holm, method, assignments },
      },
    ],
  };
}

/** Draws the test as one SVG element for a page. */
export function drawSwitchbackDiagram({ comparison, plan, compared }: SwitchbackResult): string {
  const [cost] = compared;
  if (!cost) throw new Error('The result compares no indicator; use a test that does.');
  const wide = (width - names - 4) / plan.units.length;
  const left = (index: number) => names + index * wide;
  const on = (id: string) => (id === comparison.candidate_instance_id ? 'candidate' : 'baseline');
  const values = cost.units.map(({ mean }) => mean);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (mean: number) =>
    round(means.bottom - ((mean - low) / (high - low)) * (means.bottom - means.top));

  let train = '';
  for (const { index, instance_id } of plan.units) {
    const height = tracks[on(instance_id)];
    const [from, to] = [round(left(index) + 3), round(left(index + 1) - 3)];
    train += train === '' ? `M${from} ${height}H${to}` : `L${from} ${height}H${to}`;
  }
  const rails = Object.values(tracks).map(
    (height) => `  <path class="rail" d="M${names} ${height}H${width - 4}" />`,
  );
  const dots = cost.units.map(
    ({ index, instance_id, mean, counted }) =>
      `  <g class="${on(instance_id) === 'candidate' ? 'route-1' : 'route-2'}" data-unit="${index}"${counted ? '' : ' opacity="0.35"'}>` +
      `<path class="visits" d="M${round(left(index + 0.5))} ${y(mean)}h0" /></g>`,
  );
  const sides = (['control', 'candidate'] as const).map(
    (side) =>
      `  <g class="${side === 'candidate' ? 'route-1' : 'route-2'}">` +
      `<path class="route" d="M${names} ${y(cost[side].mean)}H${width - 4}" /></g>`,
  );
  return `<svg aria-hidden="true" viewBox="0 0 ${width} 240">
${rails.join('\n')}
  <path class="train" d="${train}" />
${sides.join('\n')}
${dots.join('\n')}
  <text x="${names / 2}" y="${tracks.baseline + 4}">baseline</text>
  <text x="${names / 2}" y="${tracks.candidate + 4}">candidate</text>
  <text x="${names / 2}" y="${y(cost.control.mean) + 4}">baseline</text>
  <text x="${names / 2}" y="${y(cost.candidate.mean) + 4}">candidate</text>
  <text x="${names + (width - names) / 2}" y="100">mean cost of each unit</text>
  <text x="${names + (width - names) / 2}" y="238">${plan.units.length} units, one after the other</text>
</svg>`;
}

const round = (number: number) => Math.round(number * 10) / 10;

/** Reads the stored result. */
export function readResult(): SwitchbackResult {
  return result;
}

if (import.meta.main) {
  if (process.argv[2] === 'reduce')
    console.log(JSON.stringify(reduceResult(JSON.parse(readFileSync(0, 'utf8'))), null, 2));
  else console.log(drawSwitchbackDiagram(readResult()));
}
