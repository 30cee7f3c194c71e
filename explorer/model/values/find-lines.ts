/** Finds the lines of a code sample that a field of the request is in. */

type Lines = { from: number; count: number };

const indentOf = (line: string) => line.length - line.trimStart().length;

/**
 * Returns the lines of a field by its anchor below the operation, such as `body.configuration.queuing`; undefined when the
 * sample has none. A parameter stands in the address or in a header.
 */
export function findLines(sample: string, anchor: string): Lines | undefined {
  const lines = sample.trimEnd().split('\n');
  const [place = '', ...names] = anchor.split('.');
  if (place !== 'body') return findParameter(lines, names.join('.'));
  let found: Lines | undefined = { from: -1, count: lines.length + 1 };
  for (const name of names.map((one) => one.replace(/(\[\])+$/, '')))
    found = found && findMember(lines, name, found);
  return names.length === 0 ? undefined : found;
}

function findParameter(lines: readonly string[], name: string): Lines | undefined {
  const written = [name.replace(/\W+/g, '_').toUpperCase(), `${name}=`, `${name}:`, `"${name}"`];
  const from = lines.findIndex((line) => written.some((one) => line.includes(one)));
  return from < 0 ? undefined : { from, count: 1 };
}

/** Returns the lines of a member inside those of the object that holds it: to the next line that is indented as it is. */
function findMember(
  lines: readonly string[],
  name: string,
  { from: above, count }: Lines,
): Lines | undefined {
  const isMember = (line: string) =>
    [`"${name}":`, `${name}:`].some((one) => line.trimStart().startsWith(one));
  const inside = lines.slice(0, above + count);
  const from = inside.findIndex((line, index) => index > above && isMember(line));
  const first = lines[from];
  if (first === undefined) return undefined;
  const last = lines.findIndex((line, index) => index > from && indentOf(line) <= indentOf(first));
  const closes = /^\s*[\]}]/.test(lines[last] ?? '') && /[[{]$/.test(first);
  return { from, count: (last < 0 ? lines.length : last) - from + (closes ? 1 : 0) };
}
