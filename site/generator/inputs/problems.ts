/** A mistake in the content: its place, and a message that says what is wrong and how to correct it. */
export type Problem = { file: string; line: number; message: string };

/** Formats a problem as `file:line: sentence`. */
export function formatProblem({ file, line, message }: Problem): string {
  return `${file}:${line}: ${message}`;
}

/** Thrown when content cannot be built. The message lists every mistake as `file:line: sentence`. */
export class ContentError extends Error {
  readonly problems: Problem[];

  constructor(problems: Problem[]) {
    const lines = problems.map(formatProblem);
    super(
      `The content has ${problems.length} mistake${problems.length === 1 ? '' : 's'}:\n${lines.join('\n')}`,
    );
    this.name = 'ContentError';
    this.problems = problems;
  }
}
