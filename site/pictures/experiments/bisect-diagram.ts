/**
 * Draws the search of a bisect experiment, for the page about it: the estimated change of each tested version. Its data are
 * the steps of the page's example, whose noise differs in each run:
 *
 *     node site/pictures/experiments/bisect-diagram.ts reduce result.json > site/pictures/experiments/bisect-search.json
 *     node site/pictures/experiments/bisect-diagram.ts draw > site/content/using-switchyard/experiments/bisect.svg
 */
import { readFileSync } from 'node:fs';
import search from './bisect-search.json' with { type: 'json' };

/** The fields of a finished search that the picture shows. */
export interface BisectSearch {
  good_version_id: string;
  version_ids: string[];
  difference: { value: number };
  steps: { version_id: string; decision: string; number_of_rounds: number; effect: number }[];
}

const width = 380;
const plot = { left: 62, right: 372, top: 20, bottom: 126 };
const height = 186;
const ORDINALS = ['1st', '2nd', '3rd', '4th', '5th', '6th', '7th', '8th'];

const round = (number: number) => Math.round(number * 10) / 10;
const formatShare = (share: number) => `${(100 * share).toFixed(1)} %`;

function reduceSearch({ good_version_id, version_ids, difference, steps }: BisectSearch): BisectSearch {
  return {
    ...{ good_version_id, version_ids },
    difference: { value: difference.value },
    steps: steps.map(({ version_id, decision, number_of_rounds, effect }) => ({
      ...{ version_id, decision, number_of_rounds, effect },
    })),
  };
}

/** Draws the versions from left to right, a dot for each tested one, and the difference that matters. */
export function drawBisectDiagram({ good_version_id, version_ids, difference, steps }: BisectSearch): string {
  const limit = difference.value;
  const highest = Math.max(difference.value, ...steps.map(({ effect }) => effect));
  const y = (effect: number) => round(plot.bottom - (effect / highest) * (plot.bottom - plot.top - 14));
  const apart = (plot.right - plot.left) / version_ids.length;
  const x = (version: string) => round(plot.left + (version_ids.indexOf(version) + 0.5) * apart);
  const names = version_ids.map((id) => `  <text x="${x(id)}" y="${plot.bottom + 24}">${id}</text>`);
  const dots = steps.flatMap(({ version_id, decision, effect }, index) => [
    `  <g class="${decision === 'worse' ? 'route-1' : 'route-3'}" data-version="${version_id}"><path class="visits" d="M${x(version_id)} ${y(effect)}h0" /></g>`,
    `  <text x="${x(version_id)}" y="${round(y(effect) - 10)}">${formatShare(effect)}</text>`,
    `  <text x="${x(version_id)}" y="${plot.bottom + 44}">${ORDINALS[index] ?? ''}</text>`,
  ]);
  return `<svg aria-hidden="true" viewBox="0 0 ${width} ${height}">
  <path class="rail" d="M${plot.left} ${y(0)}H${plot.right}" />
  <g class="route-2"><path class="route" d="M${plot.left} ${y(limit)}H${plot.right}" /></g>
  <text x="30" y="${y(0) + 4}">0 %</text>
  <text x="30" y="${round(y(limit) + 4)}">${formatShare(limit)}</text>
  <text x="30" y="${plot.bottom + 44}">tested</text>
${names.join('\n')}
  <text x="${x(good_version_id)}" y="${plot.bottom + 44}">good</text>
${dots.join('\n')}
</svg>`;
}

/** Reads the stored search. */
export function readSearch(): BisectSearch {
  return search;
}

if (import.meta.main) {
  const [command, path = ''] = process.argv.slice(2);
  if (command === 'reduce')
    console.log(JSON.stringify(reduceSearch(JSON.parse(readFileSync(path, 'utf8'))), null, 2));
  else console.log(drawBisectDiagram(readSearch()));
}
