/**
 * Draws the plan on the first page about vehicle routing from a run of the sample app on its sample input:
 *
 *     cd sample-apps/vehicle-routing
 *     node main.ts -duration 0 -iterations 20000 < input.json > output.json
 *     node ../../site/pictures/route-plan.ts output.json > ../../site/content/use-cases/route-plan.svg
 *
 * Iterations in place of time make the plan repeatable.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Input, projectRoutes, type Run } from './routes-on-map.ts';

const width = 460;
const height = 330;
const legend = 34;
const margin = 14;
/** Classes of styles/picture.css. */
const colours = ['route-1', 'route-2', 'route-3'];

/** Draws the plan as one SVG element for a page. */
function drawRoutePlan(input: Input, run: Run): string {
  const box = { left: margin, top: legend, width: width - 2 * margin, height: height - legend - margin };
  const { routes, depots } = projectRoutes(input, run, box);
  const drawn = routes.map(({ vehicle, line, stops }, index) => {
    const x = Math.round(((index + 0.5) * width) / routes.length);
    return [
      `  <g class="${colours[index % colours.length]}">`,
      `    <path class="route" d="${line}" />`,
      `    <path class="visits" d="${stops}" />`,
      `    <path class="route" d="M${x - 60} 10h20" />`,
      `  </g>`,
      `  <text x="${x + 4}" y="14">${vehicle}</text>`,
    ].join('\n');
  });
  return `<svg aria-hidden="true" viewBox="0 0 ${width} ${height}">
${drawn.join('\n')}
  <path class="depots" d="${depots}" />
</svg>`;
}

if (import.meta.main) {
  const inputPath = join(import.meta.dirname, '../../sample-apps/vehicle-routing/input.json');
  const [input, output] = [inputPath, process.argv[2] ?? ''].map((path) => readFileSync(path, 'utf8'));
  console.log(drawRoutePlan(JSON.parse(input ?? ''), { output: JSON.parse(output ?? '') }));
}
