/** Colours of groups: those of the data palette, by the name of the group, so that it keeps its hue from run to run. */
const PALETTE_SIZE = 8;

/**
 * Returns a colour for each group, as CSS that follows the theme, in the order of the groups. A number at the end of a name is
 * the number of its hue; the hues of other names are spread. Two groups share no hue while others are free; the later name
 * takes the next one. Groups beyond the palette have hues of their own, between those of the palette.
 */
export function assignColours(groups: Iterable<string>): Map<string, string> {
  const names = [...new Set(groups)];
  const chosen = new Map<string, string>();
  const free = new Set(Array.from({ length: PALETTE_SIZE }, (_, index) => index));
  for (const name of names.toSorted((one, other) => (one < other ? -1 : 1))) {
    const wanted = chooseNumber(name);
    const hue = [...free].sort((one, other) => distance(wanted, one) - distance(wanted, other))[0];
    if (hue !== undefined) free.delete(hue);
    chosen.set(name, hue === undefined ? formatSpareHue(wanted) : `var(--data-${hue + 1})`);
  }
  return new Map(names.map((name) => [name, chosen.get(name) ?? '']));
}

/** Returns the steps from the wanted hue to another one, forwards. */
function distance(wanted: number, hue: number): number {
  return (hue - (wanted % PALETTE_SIZE) + PALETTE_SIZE) % PALETTE_SIZE;
}

function chooseNumber(name: string): number {
  const number = /(\d{1,6})$/.exec(name)?.[1];
  if (number !== undefined) return Number(number) + PALETTE_SIZE - 1;
  // FNV-1a.
  let hash = 2_166_136_261;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return hash;
}

/** The golden angle: hues that follow each other are far apart, however many there are. */
const HUE_STEP_DEGREES = 137.508;

function formatSpareHue(number: number): string {
  const hue = Math.round(number * HUE_STEP_DEGREES) % 360;
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
