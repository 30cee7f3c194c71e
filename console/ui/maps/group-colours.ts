/** Colours of groups: first those of the data palette, then hues that differ from their neighbours. */
const PALETTE_SIZE = 8;
/** The golden angle: hues that follow each other are far apart, however many there are. */
const HUE_STEP_DEGREES = 137.508;

/** Returns a colour for each group, as CSS that follows the theme. */
export function assignColours(groups: Iterable<string>): Map<string, string> {
  const names = [...new Set(groups)];
  return new Map(names.map((name, index) => [name, chooseColour(index)]));
}

function chooseColour(index: number): string {
  if (index < PALETTE_SIZE) return `var(--data-${index + 1})`;
  const hue = Math.round(index * HUE_STEP_DEGREES) % 360;
  return `light-dark(hsl(${hue} 60% 34%), hsl(${hue} 75% 74%))`;
}

/** Returns a colour as numbers, for drawings that know no custom properties. */
export function resolveColour(host: HTMLElement, colour: string): string {
  const probe = host.appendChild(document.createElement('span'));
  probe.style.color = colour;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
