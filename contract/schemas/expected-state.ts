/** Bodies with the condition of `conditional-writes.ts`; here, because the browser needs no schemas for it. */

/** Returns true for the body of an update that depends on the state of its resource. */
export function namesExpectedState(body: object): boolean {
  return Object.entries(body).some(
    ([name, value]) => name.startsWith('expected_') && value !== undefined && value !== null,
  );
}
