/** What runs of an instance require of workers and of the licences of the account. */
import { LABEL_CHARS_MAX } from '../limits.ts';

/** A label of a worker: a name, or a name and a value, such as `gpu` or `region=eu`. */
const LABEL_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]*(=[A-Za-z0-9][A-Za-z0-9._-]*)?$';
const LABEL = new RegExp(LABEL_PATTERN);

/** Returns true for a text that can be a label. */
export function isLabel(text: string): boolean {
  return text.length <= LABEL_CHARS_MAX && LABEL.test(text);
}
