/** The scan of a body counts what JSON.parse would build, inside and outside of the raw field. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureJson, replaceContainers } from './raw-json.ts';

/** Returns the lists, objects and fields of objects in a value. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Object.values(value);
  const own = 1 + (Array.isArray(value) ? 0 : members.length);
  return members.reduce((sum: number, one) => sum + countValues(one), own);
}

test('A10: the values of any body are counted, and those of the raw field apart', () => {
  const name = fc.oneof(fc.constant('input'), fc.constant('"input"'), fc.string());
  fc.assert(
    fc.property(
      fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true }),
      fc.constantFrom(0, 2),
      (body, indent) => {
        const json = Buffer.from(JSON.stringify(body, null, indent));
        const { input, ...rest } = body;
        const outside = countValues(rest) + (input === undefined ? 0 : 1);
        const limits = { depthMax: json.length, rawField: 'input' };
        const measured = measureJson(json, { ...limits, valuesMax: outside });
        expect([measured.excess, measured.rawValues]).toEqual([null, countValues(input)]);
        expect(measureJson(json, { ...limits, valuesMax: outside - 1 }).excess).toBe('values');
        const replaced: unknown = JSON.parse(replaceContainers(json, measured.rawRanges).toString());
        const empty = typeof input !== 'object' || input === null ? input : Array.isArray(input) ? [] : {};
        const expected = input === undefined ? rest : { ...rest, input: empty };
        // JSON has one zero.
        expect(replaced).toEqual(JSON.parse(JSON.stringify(expected)));
      },
    ),
    { seed: 10, numRuns: 300 },
  );
});
