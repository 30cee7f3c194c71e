/** Lists of names in messages. */

/** Joins names by commas: at most 50, and 1000 characters, because a manifest may contain a megabyte of names. */
export function formatNameList(names: readonly string[]): string {
  const fitting: string[] = [];
  let chars = 0;
  for (const name of names) {
    chars += name.length;
    if (fitting.length === LISTED_NAMES_MAX || chars > LISTED_CHARS_MAX) break;
    fitting.push(name);
  }
  const omitted = names.length - fitting.length;
  return omitted === 0 ? fitting.join(', ') : `${[...fitting, ''].join(', ')}and ${omitted} more`;
}

const LISTED_NAMES_MAX = 50;
const LISTED_CHARS_MAX = 1000;
