/**
 * Draws the path of a live run through a shadow test, for the page about it:
 *
 *     node site/pictures/shadow-diagram.ts > site/content/using-switchyard/experiments/shadow.svg
 */
interface Stop {
  x: number;
  y: number;
  /** The lines of the label; that of a stop on the upper track is above it. */
  words: string[];
}

const upper = 52;
const lower = 132;

/** The stops of a run and of its copy. */
export const STOPS = {
  made: { x: 44, y: upper, words: ['your run'] },
  baseline: { x: 176, y: upper, words: ['baseline'] },
  answer: { x: 322, y: upper, words: ['your result'] },
  copy: { x: 110, y: lower, words: ['copy,', 'priority 9'] },
  candidate: { x: 212, y: lower, words: ['candidate'] },
  compared: { x: 322, y: lower, words: ['compared'] },
} satisfies Record<string, Stop>;

export type StopName = keyof typeof STOPS;

/** The paths between stops, the caller's first. */
export const PATHS: [from: StopName, to: StopName, track: 'train' | 'rail'][] = [
  ['made', 'baseline', 'train'],
  ['baseline', 'answer', 'train'],
  ['made', 'copy', 'rail'],
  ['copy', 'candidate', 'rail'],
  ['candidate', 'compared', 'rail'],
  ['answer', 'compared', 'rail'],
];

function drawTrack([from, to, kind]: (typeof PATHS)[number]): string {
  const [a, b] = [STOPS[from], STOPS[to]];
  const middle = (a.y + b.y) / 2;
  const way = a.y === b.y ? `H${b.x}` : `C${a.x} ${middle + 20} ${b.x} ${middle - 20} ${b.x} ${b.y}`;
  return `  <path class="${kind}" data-way="${from} ${to}" d="M${a.x} ${a.y}${way}" />`;
}

function drawStop({ x, y, words }: Stop): string[] {
  const first = y === upper ? y - 18 : y + 26;
  return [
    `  <circle class="${y === upper ? 'station' : 'open'}" cx="${x}" cy="${y}" r="6" />`,
    ...words.map((line, index) => `  <text x="${x}" y="${first + index * 16}">${line}</text>`),
  ];
}

/** Draws the picture as one SVG element for a page. The caller's path is above all others. */
export function drawShadowDiagram(): string {
  const parts = [...PATHS.map(drawTrack).reverse(), ...Object.values(STOPS).flatMap(drawStop)];
  return `<svg aria-hidden="true" viewBox="0 0 380 182">\n${parts.join('\n')}\n</svg>`;
}

if (import.meta.main) console.log(drawShadowDiagram());
