/**
 * Draws the picture in README.md from a real first start: what it printed, and the routes that its run planned.
 *
 *     npm start > printed.txt
 *     curl -H "Authorization: Bearer $TOKEN" "$URL/v1/applications/vehicle-routing/runs/$RUN" > run.json
 *     node site/pictures/first-start.ts printed.txt run.json > site/pictures/first-start.svg
 *
 * The token is cut and folders are left out. The picture brings its own background, so that it reads on light and dark
 * pages, and its text is text.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Place = { lon: number; lat: number };
type Input = {
  stops: { id: string; location: Place }[];
  vehicles: { id: string; start: Place; end: Place }[];
};
type Run = { output: { solution: { vehicles: { id: string; route: { stop: string }[] }[] } } };

const textLeft = 28;
const top = 30;
const lineHeight = 21;
const fontSize = 14;
const map = { left: 660, width: 312 };
const width = 1000;
const colours = ['#ff9c63', '#7cc0ff', '#86d9a2', '#d0a8ff', '#f2c94c'];

/** What was printed from the prompt on, without what npm and the log say, and nothing of this machine. */
export function shownLines(printed: string): string[] {
  const lines = printed
    .split('\n')
    .filter((line) => !/^(npm |> |\{|added |Install|Building|rc )/.test(line))
    .map((line) =>
      line.replace(/\S*(\/data\/root-token)/, 'data/root-token').replace(/(eyJ\S{20})\S+/, '$1…'),
    );
  const text = lines
    .join('\n')
    .trim()
    .replaceAll(/\n{3,}/g, '\n\n');
  return ['$ npm start', '', ...text.split('\n')];
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function drawLine(line: string, index: number): string {
  const parts = /^( {2}(?:site|API|token|run|status|objective|time) +)(\S.*)$/.exec(line);
  const y = top + 20 + index * lineHeight;
  const loud = /succeeded/.test(line) ? 'good' : 'loud';
  const content = parts
    ? `<tspan class="quiet">${parts[1]}</tspan><tspan class="${loud}">${escaped(parts[2] ?? '')}</tspan>`
    : `<tspan class="${/^(\$|Switchyard|First|Next)/.test(line) ? 'loud' : 'quiet'}">${escaped(line)}</tspan>`;
  return `<text x="${textLeft}" y="${y}" xml:space="preserve">${content}</text>`;
}

/** The routes on a plane that keeps shapes where the stops are: a degree of longitude is shorter than one of latitude. */
function drawMap({ stops, vehicles }: Input, { output }: Run, height: number): string {
  const middle = stops.reduce((sum, { location }) => sum + location.lat, 0) / stops.length;
  const plane = ({ lon, lat }: Place) => [lon * Math.cos((middle * Math.PI) / 180), -lat] as const;
  const places = [
    ...stops.map(({ location }) => location),
    ...vehicles.flatMap(({ start, end }) => [start, end]),
  ];
  const [xs, ys] = [places.map((place) => plane(place)[0]), places.map((place) => plane(place)[1])];
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const [up, down] = [Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(map.width / (high - low), (height - 2 * top) / (down - up));
  const left = map.left + (map.width - (high - low) * scale) / 2;
  const above = (height - (down - up) * scale) / 2;
  const at = (place: Place) => {
    const [x, y] = plane(place);
    return `${(left + (x - low) * scale).toFixed(1)} ${(above + (y - up) * scale).toFixed(1)}`;
  };
  const known = new Map(stops.map(({ id, location }) => [id, location]));
  const routes = output.solution.vehicles.map(({ id, route }, index) => {
    const vehicle = vehicles.find((one) => one.id === id);
    if (!vehicle) throw new Error(`The input has no vehicle "${id}", which the run plans.`);
    const stopsOfRoute = route.map(({ stop }) => {
      const place = known.get(stop);
      if (!place) throw new Error(`The input has no stop "${stop}", which the run plans.`);
      return place;
    });
    const line = [vehicle.start, ...stopsOfRoute, vehicle.end].map(at).join('L');
    const dots = stopsOfRoute.map((place) => `M${at(place)}h0`).join('');
    return `<g stroke="${colours[index % colours.length]}"><path class="line" d="M${line}"/><path class="stops" d="${dots}"/></g>`;
  });
  const depots = [...new Set(vehicles.map(({ start }) => at(start)))].map((place) => `M${place}h0`).join('');
  return `${routes.join('\n')}\n<path class="depots" d="${depots}"/>`;
}

/** The whole picture as one SVG element. */
export function firstStartPicture(printed: string, input: Input, run: Run): string {
  const lines = shownLines(printed);
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
  console.log(firstStartPicture(printed ?? '', JSON.parse(input ?? ''), JSON.parse(run ?? '')).trim());
}
