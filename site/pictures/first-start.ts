/**
 * Draws the picture in README.md from a real first start: its output, and the routes that its run planned.
 *
 *     script -qc 'npm start' printed.txt    # at a terminal, where the token is shown
 *     curl -H "Authorization: Bearer $TOKEN" "$URL/v1/applications/vehicle-routing/runs/$RUN" > run.json
 *     node site/pictures/first-start.ts printed.txt run.json > site/pictures/first-start.svg
 *
 * The token is truncated and folders are left out. The picture has its own background, so it is readable on light and dark
 * pages.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Input, projectRoutes, type Run } from './routes-on-map.ts';

const TEXT_X = 28;
const top = 30;
const lineHeight = 21;
const fontSize = 14;
const map = { left: 660, width: 312 };
const width = 1000;
const colours = ['#ff9c63', '#7cc0ff', '#86d9a2', '#d0a8ff', '#f2c94c'];

/** Returns the printed lines from the prompt on, without those of npm and the log, and without names of this machine. */
export function filterOutput(printed: string): string[] {
  const lines = printed
    .split(/\r?\n/)
    .filter((line) => !/^(npm |> |\{|added |Install|Building|Script |rc )/.test(line))
    .map((line) =>
      line.replace(/\S*(\/data\/root-token)/, 'data/root-token').replace(/(eyJ\S{20})\S+/, '$1…'),
    );
  const text = lines
    .join('\n')
    .trim()
    .replaceAll(/\n{3,}/g, '\n\n');
  return ['$ npm start', '', ...text.split('\n')];
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function drawLine(line: string, index: number): string {
  const parts = /^( {2}(?:site|API|token|run|status|objective|time) +)(\S.*)$/.exec(line);
  const y = top + 20 + index * lineHeight;
  const loud = /succeeded/.test(line) ? 'good' : 'loud';
  const content = parts
    ? `<tspan class="quiet">${parts[1]}</tspan><tspan class="${loud}">${escapeXml(parts[2] ?? '')}</tspan>`
    : `<tspan class="${/^(\$|Switchyard|First|Next)/.test(line) ? 'loud' : 'quiet'}">${escapeXml(line)}</tspan>`;
  return `<text x="${TEXT_X}" y="${y}" xml:space="preserve">${content}</text>`;
}

function drawMap(input: Input, run: Run, height: number): string {
  const { routes, depots } = projectRoutes(input, run, { ...map, top, height: height - 2 * top });
  const drawn = routes.map(
    ({ line, stops }, index) =>
      `<g stroke="${colours[index % colours.length]}"><path class="line" d="${line}"/><path class="stops" d="${stops}"/></g>`,
  );
  return `${drawn.join('\n')}\n<path class="depots" d="${depots}"/>`;
}

/** Draws the whole picture as one SVG element. */
export function drawFirstStart(printed: string, input: Input, run: Run): string {
  const lines = filterOutput(printed);
  const height = 2 * top + lines.length * lineHeight;
  const used = run.output.solution.vehicles.filter(({ route }) => route.length > 0).length;
  const title = `The end of a first start, and its run: ${used} routes over ${input.stops.length} stops`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
<style>
text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.loud { fill: #f4f2ee; } .quiet { fill: #b5b1a8; } .good { fill: #86d9a2; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.stops { stroke-width: 7; stroke-linecap: round; } .depots { stroke: #f4f2ee; stroke-width: 14; stroke-linecap: square; }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="#161512" stroke="#56524a"/>
${lines.map(drawLine).join('\n')}
${drawMap(input, run, height)}
</svg>
`;
}

if (import.meta.main) {
  const [printedPath = '', runPath = ''] = process.argv.slice(2);
  const inputPath = join(import.meta.dirname, '../../sample-apps/vehicle-routing/input.json');
  const [printed, input, run] = [printedPath, inputPath, runPath].map((path) => readFileSync(path, 'utf8'));
  console.log(drawFirstStart(printed ?? '', JSON.parse(input ?? ''), JSON.parse(run ?? '')).trim());
}
