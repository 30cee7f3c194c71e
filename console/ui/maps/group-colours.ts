/** Colours of groups: those of the theme, which has no more that differ in both themes. */
const COLOURS = ['--line-blue', '--accent', '--go', '--line-violet', '--line-amber', '--stop'];

/** Returns a colour of the theme for each group, as CSS. */
export function assignColours(groups: Iterable<string>): Map<string, string> {
  const names = [...new Set(groups)];
  return new Map(names.map((name, index) => [name, `var(${COLOURS[index % COLOURS.length]})`]));
}

/** Returns a colour as numbers, for drawings that know no custom properties. */
export function resolveColour(host: HTMLElement, colour: string): string {
  const probe = host.appendChild(document.createElement('span'));
  probe.style.color = colour;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
