/** A violation of a law: the place, the defect and its remedy. */
import type { Source } from './source-files.ts';
import { lineNumberAt } from './syntax.ts';

/** A violation of a law in one line of a file. */
export interface Violation {
  path: string;
  /** Counted from 1. */
  line: number;
  message: string;
}

/** A law over all sources whose violations are counted per file and compared with a baseline. */
export interface Law {
  /** Also the name of the baseline's file: `checks/baselines/<name>.json`. */
  name: string;
  findViolations(sources: readonly Source[]): Violation[];
}

/** Returns a violation at a node or comment of the syntax tree. */
export function violationAt(source: Source, node: { start: number }, message: string): Violation {
  return { path: source.path, line: lineNumberAt(source, node.start), message };
}

/** Returns `server/main.ts:12 has …`, in the format that editors open. */
export function formatViolation({ path, line, message }: Violation): string {
  return `${path}:${line} ${message}`;
}
