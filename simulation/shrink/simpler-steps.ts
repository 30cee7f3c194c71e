/** Which steps are simpler than another one of the same kind. */
import type { Step, StepValue } from '../load/step.ts';

/** The simplest value of an argument, whatever its step is. */
const SIMPLEST: Record<string, StepValue> = { end: 'success', instance: 'main', priority: 0, twice: false };
/** Others must stay: which step they name, and when it happens. */
const FIXED = new Set(['id', 'at', 'do', 'of']);

/** Returns steps with one simpler argument each, and one with all of them first. */
export function listSimplerSteps(step: Step): Step[] {
  const changes = Object.entries(step).flatMap(([name, value]): Record<string, StepValue>[] => {
    if (FIXED.has(name)) return [];
    const simplest = SIMPLEST[name] ?? (name === 'ms' ? 1000 : value);
    return simplest === value ? [] : [{ [name]: simplest }];
  });
  const all = Object.assign({}, ...changes);
  return [...(changes.length > 1 ? [all] : []), ...changes].map((change) => ({ ...step, ...change }));
}
