/** Returns the indexes of the lines that contain the text in any case; none for an empty text. */
export function findMatches(lines: readonly string[], text: string): number[] {
  if (text === '') return [];
  const wanted = text.toLowerCase();
  const matches: number[] = [];
  for (const [index, line] of lines.entries()) if (line.toLowerCase().includes(wanted)) matches.push(index);
  return matches;
}

/** Returns the line as parts that alternate between other text and matches, first other text, which may be empty. */
export function splitAtMatches(line: string, text: string): string[] {
  const parts: string[] = [];
  const lower = line.toLowerCase();
  const wanted = text.toLowerCase();
  // Some letters have another length in lower case, so positions would be wrong.
  if (wanted === '' || lower.length !== line.length) return [line];
  let from = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    parts.push(line.slice(from, at), line.slice(at, at + wanted.length));
    from = at + wanted.length;
  }
  return [...parts, line.slice(from)];
}
