/**
 * Runs in the page: lists visible words with too little contrast to their background, as "ratio element: words". Colours
 * are read back from a canvas pixel, so any notation of the style sheet works.
 */
export function findLowContrastText(least: number): string[] {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!context) return ['no canvas'];
  const pixels = new Map<string, number[]>();
  const pixel = (color: string): number[] => {
    const known = pixels.get(color);
    if (known) return known;
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const read = [...context.getImageData(0, 0, 1, 1).data];
    pixels.set(color, read);
    return read;
  };
  const luminance = (color: number[]) => {
    const linear = color.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  };
  // Each element is checked once, because a block of code has thousands of words.
  const grounds = new Map<Element, number[]>();
  const behind = (element: Element | null): number[] => {
    if (!element) return [255, 255, 255];
    const known = grounds.get(element);
    if (known) return known;
    const color = pixel(getComputedStyle(element).backgroundColor);
    const ground = color[3] === 255 ? color : behind(element.parentElement);
    grounds.set(element, ground);
    return ground;
  };

  const found: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    const words = text.textContent?.trim() ?? '';
    if (
      !element ||
      words === '' ||
      !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    )
      continue;
    const { color, fill } = getComputedStyle(element);
    const own = luminance(pixel(element instanceof SVGElement ? fill : color));
    const ground = luminance(behind(element));
    const ratio = (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
    if (ratio < least)
      found.push(`${ratio.toFixed(1)} ${element.tagName}.${element.className}: ${words.slice(0, 30)}`);
  }
  return found;
}
