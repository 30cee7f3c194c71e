/** More than the definition of any option needs. Much deeper values exceed the stack of JSON.stringify in responses. */
export const LEVELS_MAX = 64;

/** Returns true for a value nested deeper than `LEVELS_MAX` levels. It is a loop, because a recursion overflows the stack. */
export function isDeeper(value: unknown): boolean {
  let layer: unknown[] = [value];
  for (let level = 0; layer.length > 0; level += 1) {
    if (level > LEVELS_MAX) return true;
    layer = layer.flatMap((one) =>
      typeof one === 'object' && one !== null
        ? Object.values(one).filter((inner) => typeof inner === 'object')
        : [],
    );
  }
  return false;
}
