/** Draws series with uPlot. This module loads when a page shows its first chart. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {
  distinguish,
  formatPercent,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { type ChartSeries, colourSeries } from './chart-series.ts';

const LINE_PX = 2;
const POINTS_MAX = 60;
const RATIO_SCALE = 'ratio';
/** At the right, in percent. */
const RATIO_AXIS: uPlot.Axis = {
  scale: RATIO_SCALE,
  side: 1,
  size: 56,
  grid: { show: false },
  values: (_, splits) => splits.map(distinguish(splits, formatPercent)),
};

const RANGE_PADDING = 0.1;
/** Returns the labels of an axis of times. */
const formatSeconds = (_: uPlot, splits: number[]): string[] =>
  splits.map((split) => `${formatValue(split)}\u00a0s`);

/** Returns the range of the axis of values. uPlot draws values that are all 0 on an axis up to 100. */
function findRange(_: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [null, null];
  return low === 0 && high === 0 ? [0, 1] : uPlot.rangeNum(low, high, RANGE_PADDING, true);
}

/** A drawn chart. */
export interface DrawnChart {
  /** Shows new points of the same series. */
  setPoints(series: readonly ChartSeries[]): void;
  remove(): void;
}

/** Draws the series into the element, in its size and colours. */
export function drawChart(element: HTMLElement, series: readonly ChartSeries[]): DrawnChart {
  const chart = new uPlot(buildOptions(element, series), joinSeries(series), element);
  const observer = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: element.clientHeight }),
  );
  observer.observe(element);
  return {
    setPoints: (next) => chart.setData(joinSeries(next)),
    remove() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** Returns all series over the union of their times; a series without a value at a time has null there. */
function joinSeries(series: readonly ChartSeries[]): uPlot.AlignedData {
  return uPlot.join(
    series.map(({ points }): uPlot.AlignedData => [points.map(({ x }) => x), points.map(({ y }) => y)]),
  );
}

function buildOptions(element: HTMLElement, series: readonly ChartSeries[]): uPlot.Options {
  const readColour = createColourReader(element);
  const axis = {
    stroke: readColour('var(--soft)'),
    grid: { stroke: readColour('var(--grid)'), width: 1 },
    ticks: { stroke: readColour('var(--rail)'), width: 1 },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
  // An incumbent holds until the next one: steps, not slopes, except for one point.
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: false }, y: { range: findRange } },
    axes: [
      series.every(({ isOverSeconds }) => isOverSeconds) ? { ...axis, values: formatSeconds } : axis,
      { ...axis, size: 72, values: (_, splits) => splits.map(distinguish(splits)) },
      ...(series.some(({ isRatio }) => isRatio) ? [{ ...axis, ...RATIO_AXIS }] : []),
    ],
    series: [
      {},
      ...series.map(({ name, points, isRatio, isDashed, ...one }, index) => ({
        label: name,
        scale: isRatio ? RATIO_SCALE : 'y',
        stroke: readColour(colourSeries(one, index)),
        ...(isDashed && { dash: [5, 3] }),
        width: LINE_PX,
        spanGaps: true,
        points: { show: points.length <= POINTS_MAX, size: 5 },
        ...(stepped && { paths: stepped }),
      })),
    ],
  };
}

/** Returns the function that resolves a colour of the theme, which a canvas cannot do. */
function createColourReader(element: HTMLElement): (colour: string) => string {
  return (colour) => {
    const probe = document.createElement('span');
    probe.style.color = colour;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
