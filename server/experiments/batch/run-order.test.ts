import { describe, expect, test } from 'vitest';
import { arrangeInBlocks } from './run-order.ts';

const INPUTS = Array.from({ length: 12 }, (_, index) => `in-${index}`);
/** All runs of the control first: the order of the request. */
const createRuns = (sides: readonly string[], repetitions: number) =>
  sides.flatMap((side) =>
    INPUTS.flatMap((input_id) =>
      Array.from({ length: repetitions }, (_, repetition) => ({
        side,
        input_set_id: 'set',
        input_id,
        repetition,
      })),
    ),
  );

describe('the order of submission', () => {
  test('has every run once, in blocks of all sides of an input, with repetitions as outer blocks', () => {
    const runs = createRuns(['control', 'candidate', 'third'], 2);
    const ordered = arrangeInBlocks(runs, 'any seed');
    expect(new Set(ordered.map(({ run }) => run))).toEqual(new Set(runs));
    expect(ordered.map(({ block }) => block)).toEqual(
      Array.from({ length: 72 }, (_, index) => Math.floor(index / 3)),
    );
    for (let block = 0; block < 24; block += 1) {
      const members = ordered.filter((one) => one.block === block).map(({ run }) => run);
      expect(new Set(members.map(({ side }) => side)).size).toBe(3);
      expect(new Set(members.map(({ input_id }) => input_id)).size).toBe(1);
      expect(members.map(({ repetition }) => repetition)).toEqual(members.map(() => (block < 12 ? 0 : 1)));
    }
  });

  test('keeps inputs of two sets with the same id apart', () => {
    const runs = ['a', 'b'].map((input_set_id) => ({ input_set_id, input_id: 'one', repetition: 0 }));
    expect(arrangeInBlocks(runs, 'seed').map(({ block }) => block)).toEqual([0, 1]);
  });

  test('is the same for the same seed, and another for another', () => {
    const runs = createRuns(['control', 'candidate'], 1);
    expect(arrangeInBlocks(runs, 'a')).toEqual(arrangeInBlocks(runs, 'a'));
    expect(arrangeInBlocks(runs, 'a')).not.toEqual(arrangeInBlocks(runs, 'b'));
  });

  test('D8: either side is first in half of the blocks, and every input has every place', () => {
    const runs = createRuns(['control', 'candidate'], 1);
    let controlFirst = 0;
    const places = new Array<number>(INPUTS.length).fill(0);
    const seeds = 1000;
    for (let seed = 0; seed < seeds; seed += 1) {
      const ordered = arrangeInBlocks(runs, `seed ${seed}`);
      for (const { run, block } of ordered.filter((_, index) => index % 2 === 0)) {
        if (run.side === 'control') controlFirst += 1;
        if (run.input_id === 'in-0') places[block] = (places[block] ?? 0) + 1;
      }
    }
    // Binomial: 12,000 coins have a standard deviation of 55; 1,000 draws of one place of twelve have 8.7.
    expect(Math.abs(controlFirst - 6000)).toBeLessThan(5 * 55);
    for (const count of places) expect(Math.abs(count - seeds / 12)).toBeLessThan(5 * 8.7);
  });
});
