/** A picture of the units of a switchback test: their means over time, and the side that served each. */
import type { Format } from '@switchyard/contract/presentation/format-quantity.ts';
import type { UnitView } from '@switchyard/contract/views/experiment-view.ts';
import { createCanvas } from './canvas.ts';
import { drawDotPlot } from './dot-plot.ts';
import type { Glyphs } from './glyphs.ts';

interface TimelineSettings {
  format: Format;
  width: number;
  glyphs: Glyphs;
}

const CANDIDATE_LABEL = 'candidate';
const BASELINE_LABEL = 'baseline';

/** Returns the lines: dots of the candidate above dots of the baseline, then a strip with C and B for each unit. */
export function drawUnitTimeline(units: readonly UnitView[], settings: TimelineSettings): string[] {
  const { glyphs, width } = settings;
  const labels = CANDIDATE_LABEL.length + 2;
  // Units beyond the width of the terminal share no column: the last ones are cut off.
  const visible = units.slice(0, Math.max(1, width - labels));
  const strip = createCanvas(visible.length, 2);
  for (const [index, { isCandidate, isCounted, mean }] of visible.entries())
    strip.set(index, isCandidate ? 0 : 1, mean === null || !isCounted ? glyphs.hollow : glyphs.dot);
  const [candidate = '', baseline = ''] = strip.toLines();
  const measured = visible.filter(({ mean }) => mean !== null);
  const chart = (isCandidate: boolean): string[] => {
    const own = measured.filter((unit) => unit.isCandidate === isCandidate);
    if (own.length === 0) return [];
    const dots = own.map(({ mean, isCounted }) => ({ value: mean, isSolid: isCounted }));
    return [
      `Means of the ${isCandidate ? CANDIDATE_LABEL : BASELINE_LABEL}`,
      ...drawDotPlot(dots, { ...settings, height: 5 }),
    ];
  };
  return [
    `${CANDIDATE_LABEL.padEnd(labels)}${candidate}`.trimEnd(),
    `${BASELINE_LABEL.padEnd(labels)}${baseline}`.trimEnd(),
    ...chart(true),
    ...chart(false),
    ...(visible.length < units.length ? [`The first ${visible.length} of ${units.length} units.`] : []),
  ];
}
