/** Draws series with uPlot. This module loads when a page shows its first chart. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Series } from '@switchyard/contract/runs/statistics-series.ts';
import { formatNumber } from '../format-quantity.ts';

const COLOUR_NAMES = ['--accent', '--line-blue', '--go', '--line-violet', '--line-amber'] as const;
const LINE_PX = 2;
const POINTS_MAX = 60;

/** Draws the series into the element, in its size and colours, and returns the function that removes them. */
export function drawChart(element: HTMLElement, series: readonly Series[]): () => void {
  const chart = new uPlot(buildOptions(element, series), joinSeries(series), element);
  const observer = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: element.clientHeight }),
  );
  observer.observe(element);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

/** Returns all series over the union of their times; a series without a value at a time has null there. */
function joinSeries(series: readonly Series[]): uPlot.AlignedData {
  return uPlot.join(
    series.map(({ points }): uPlot.AlignedData => [points.map(({ x }) => x), points.map(({ y }) => y)]),
  );
}

function buildOptions(element: HTMLElement, series: readonly Series[]): uPlot.Options {
  const readColour = createColourReader(element);
  const axis = {
    stroke: readColour('--soft'),
    grid: { stroke: readColour('--line'), width: 1 },
    ticks: { stroke: readColour('--rail'), width: 1 },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
  // An incumbent holds until the next one: steps, not slopes, except for one point.
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: false } },
    axes: [axis, { ...axis, size: 72, values: (_, splits) => splits.map(formatNumber) }],
    series: [
      {},
      ...series.map(({ name, points }, index) => ({
        label: name,
        stroke: readColour(COLOUR_NAMES[index % COLOUR_NAMES.length] ?? '--accent'),
        width: LINE_PX,
        spanGaps: true,
        points: { show: points.length <= POINTS_MAX, size: 5 },
        ...(stepped && { paths: stepped }),
      })),
    ],
  };
}

/** Returns the function that resolves a colour of the theme, which a canvas cannot do. */
function createColourReader(element: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(${name})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
