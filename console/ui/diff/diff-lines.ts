/** The lines of two texts that differ, with lines around them. The library loads when the first text is compared. */

/** A line of a diff: in the file before, in that after, or in both. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'gap';
  /** Number of the line before; absent for an added line. */
  before?: number;
  /** Number of the line after; absent for a removed line. */
  after?: number;
  text: string;
}

const CONTEXT_LINES = 3;
/** Two texts without a common line take quadratic time; a person does not wait longer for them. */
const TIMEOUT_MS = 1_000;

/** Returns the changed lines with three lines around them; null for texts that differ too much to compare in a second. */
export async function diffLines(before: string, after: string): Promise<DiffLine[] | null> {
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
  });
  if (!patch) return null;
  return patch.hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [GAP]),
    ...numberLines(hunk.lines, hunk.oldStart, hunk.newStart),
  ]);
}

const GAP: DiffLine = { kind: 'gap', text: '' };

/** Numbers the lines of a hunk. Each begins with a space, `+` or `-`; `\` begins a remark on the end of the file. */
function numberLines(lines: readonly string[], oldStart: number, newStart: number): DiffLine[] {
  let before = oldStart;
  let after = newStart;
  const numbered: DiffLine[] = [];
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith('+')) numbered.push({ kind: 'added', after: after++, text });
    else if (line.startsWith('-')) numbered.push({ kind: 'removed', before: before++, text });
    else if (line.startsWith(' ')) numbered.push({ kind: 'same', before: before++, after: after++, text });
  }
  return numbered;
}
