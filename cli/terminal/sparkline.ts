/** A series of numbers as one line of characters. Pure. */

const BLOCKS = '▁▂▃▄▅▆▇█';
/** Characters of ASCII by the height of their ink. */
const ASCII_LEVELS = '_.-~=*^#';

/**
 * Returns the values in order as a line of at most `width` characters, from the smallest value at the bottom to the largest at
 * the top. Equal values have the middle height. Values that are not finite are left out.
 */
export function formatSparkline(
  values: readonly number[],
  { width, isUnicode }: { width: number; isUnicode: boolean },
): string {
  const levels = isUnicode ? BLOCKS : ASCII_LEVELS;
  const finite = values.filter(Number.isFinite);
  const min = finite.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const max = finite.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  return sampleValues(finite, width)
    .map((value) => {
      const share = max > min ? (value - min) / (max - min) : 0.5;
      return levels.charAt(Math.min(levels.length - 1, Math.floor(share * levels.length)));
    })
    .join('');
}

/** Of more than `count` values, each interval has its last value, so that the line ends with the current one. */
function sampleValues(values: readonly number[], count: number): readonly number[] {
  if (values.length <= count) return values;
  return Array.from({ length: count }, (_, index) => {
    const end = Math.ceil(((index + 1) * values.length) / count);
    return values[end - 1] ?? Number.NaN;
  });
}
