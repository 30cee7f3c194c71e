/** The rows of a run's series: bounded, complete for each reader, and replaced by the next attempt. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Point } from '@switchyard/worker/series/downsample.ts';
import { SeriesWriter } from '@switchyard/worker/series/series-writer.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { findSeriesAfter, storeSeriesWrite } from './series-rows.ts';

let test_: TestDatabase;
beforeAll(async () => {
  test_ = await openTestDatabase();
});
afterAll(() => test_.close());

async function write(id: RunId, writer: SeriesWriter, isEnd = false): Promise<void> {
  writer.begin();
  const points = writer.toWrite(isEnd);
  await test_.database.transact((tx) => storeSeriesWrite(tx, id, points), { durable: false });
  writer.confirm();
}
const countRows = async (id: RunId): Promise<number> =>
  (await test_.database.read.selectFrom('run_series').select('seq').where('run_id', '=', id).execute())
    .length;
const readPoints = async (id: RunId, after = -1) =>
  (await findSeriesAfter(test_.database.read, id, after))?.series[0]?.points;

test('a run of many writes has few rows, and every reader gets every point once', async () => {
  const id = 'run-many' as RunId;
  const writer = new SeriesWriter(1, 1000);
  writer.setStart(0);
  const expected: Point[] = [];
  const followed: Point[] = [];
  let seq = 0;
  let rowsMax = 0;
  for (let n = 0; n < 250; n += 1) {
    writer.addLine(`{"series": {"cost": ${1000 - n}}}`, n * 100);
    expected.push([n / 10, 1000 - n]);
    await write(id, writer);
    rowsMax = Math.max(rowsMax, await countRows(id));
    // A reader that is now and then a few writes behind.
    if (n % 7 !== 0) continue;
    const update = await findSeriesAfter(test_.database.read, id, seq);
    if (update?.reset) followed.length = 0;
    followed.push(...(update?.series[0]?.points ?? []));
    seq = update?.seq ?? seq;
  }
  expect(rowsMax).toBeLessThanOrEqual(101);
  await write(id, writer, true);
  expect(await countRows(id)).toBe(1);
  expect(await readPoints(id)).toEqual(expected);
  const rest = await findSeriesAfter(test_.database.read, id, seq);
  expect(rest?.reset ? rest.series[0]?.points : [...followed, ...(rest?.series[0]?.points ?? [])]).toEqual(
    expected,
  );
});

test('a failed write comes again with the next one', async () => {
  const id = 'run-failing' as RunId;
  const writer = new SeriesWriter(1, 1000);
  writer.setStart(0);
  writer.addLine('{"series": {"cost": 3}}', 0);
  writer.begin();
  const failing = test_.database.transact(async (tx) => {
    await storeSeriesWrite(tx, id, writer.toWrite(false));
    throw new Error('disk full');
  });
  await expect(failing).rejects.toThrow('disk full');
  writer.addLine('{"series": {"cost": 2}}', 1000);
  await write(id, writer);
  expect(await readPoints(id)).toEqual([
    [0, 3],
    [1, 2],
  ]);
});

test('the next attempt replaces the points of the one before, also for a reader that has them', async () => {
  const id = 'run-again' as RunId;
  const first = new SeriesWriter(1, 1000);
  first.setStart(0);
  first.addLine('{"series": {"cost": 9}}', 0);
  await write(id, first);
  const before = await findSeriesAfter(test_.database.read, id, -1);
  const second = new SeriesWriter(2, 2000);
  second.setStart(5000);
  second.addLine('{"series": {"cost": 7}}', 6000);
  await write(id, second);
  expect(await findSeriesAfter(test_.database.read, id, before?.seq ?? 0)).toMatchObject({
    reset: true,
    series: [{ name: 'cost', source: 'log', points: [[1, 7]] }],
  });
});

test('a line that shows an earlier start of its solve moves the points of a reader that has them', async () => {
  const id = 'run-late' as RunId;
  const row = (seconds: string, objective: number) =>
    `0 0 0 0.00% 10 ${objective} 50.00% 0 0 0 0 ${seconds}s`;
  const writer = new SeriesWriter(1, 1000);
  writer.setStart(0);
  for (const line of ['Running HiGHS 1.16.0', 'Presolving model', row('0.5', 30)])
    writer.addLine(line, 8_000);
  await write(id, writer);
  const before = await findSeriesAfter(test_.database.read, id, -1);
  expect(before?.solves).toMatchObject([{ solve: 0, x: 7.5 }]);
  writer.addLine(row('6.0', 20), 8_000);
  await write(id, writer);
  const after = await findSeriesAfter(test_.database.read, id, before?.seq ?? 0);
  expect(after).toMatchObject({ reset: true, solves: [{ solve: 0, x: 2, status: null, objective: 20 }] });
  expect(after?.series.find(({ name }) => name === 'objective')?.points).toEqual([
    [2.5, 30],
    [8, 20],
  ]);
});

test('a clock that would place a solve before its app leaves its points where their lines arrived', async () => {
  const id = 'run-fast-clock' as RunId;
  const row = (seconds: string, objective: number) =>
    `0 0 0 0.00% 10 ${objective} 50.00% 0 0 0 0 ${seconds}s`;
  const writer = new SeriesWriter(1, 1000);
  writer.setStart(0);
  for (const line of ['Running HiGHS 1.16.0', 'Presolving model', row('0.5', 30)]) writer.addLine(line, 800);
  await write(id, writer);
  writer.addLine(row('60.0', 20), 2_000);
  await write(id, writer, true);
  const { series = [] } = (await findSeriesAfter(test_.database.read, id, -1)) ?? {};
  expect(series.find(({ name }) => name === 'objective')?.points).toEqual([
    [0.8, 30],
    [2, 20],
  ]);
});
