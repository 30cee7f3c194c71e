/** Parts of the drawings about statistics. Their classes are those of styles/picture.css. */

const WIDTH = 380;
/** The plot, and below it room for ticks and the name of the axis. */
export const plot = { left: 56, right: 366, top: 24, bottom: 160 };

export const round = (number: number) => Math.round(number * 10) / 10;
export const text = (x: number, y: number, words: string | number) =>
  `  <text x="${round(x)}" y="${round(y)}">${words}</text>`;
export const path = (name: string, d: string) => `  <path class="${name}" d="${d}" />`;
export const dot = (x: number, y: number) => `M${round(x)} ${round(y)}h0`;

/** Returns the drawing of the lines. */
export function frame(lines: readonly string[], height = 204): string {
  return `<svg aria-hidden="true" viewBox="0 0 ${WIDTH} ${height}">\n${lines.join('\n')}\n</svg>`;
}

/** Returns a linear scale from numbers to places. */
export function scale(
  from: readonly [number, number],
  to: readonly [number, number],
): (value: number) => number {
  const [low, high] = from;
  const [start, end] = to;
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

/** A bar of the share of wrong results, and a line across it at the share of the product. */
export interface ShareBar {
  name: number | string;
  share: number;
  product?: number;
}

/** Draws shares of wrong results, and the promised 5 %. */
export function drawShares(
  shares: readonly ShareBar[],
  { highest, axis }: { highest: number; axis: string },
): string {
  const y = scale([0, highest], [plot.bottom, plot.top]);
  const findPlace = (index: number) => plot.left + 34 + 60 * index;
  const bars = shares.flatMap(({ name, share }, index) => {
    const x = findPlace(index);
    return [
      `  <rect class="bar" x="${x - 18}" y="${round(y(share))}" width="36" height="${round(plot.bottom - y(share))}" />`,
      text(x, y(share) - 8, `${Math.round(100 * share)} %`),
      text(x, 178, name),
    ];
  });
  return frame([
    ...bars,
    path('rail', `M${plot.left} ${plot.bottom}H${plot.right}`),
    ...shares.flatMap(({ product }, index) =>
      product === undefined ? [] : [path('train', `M${findPlace(index) - 18} ${round(y(product))}h36`)],
    ),
    path('threshold', `M${plot.left} ${round(y(0.05))}H${plot.right}`),
    text(28, y(0.05) + 4, '5 %'),
    text((plot.left + plot.right) / 2, 198, axis),
  ]);
}
