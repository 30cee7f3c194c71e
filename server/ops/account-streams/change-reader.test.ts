/** Every committed event is read once, also when a lower number is committed after a higher one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertApplication, insertNumberedEvents } from '../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database/test-database.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { ChangeReader } from './change-reader.ts';

let opened: TestDatabase;
let application: string;
beforeAll(async () => {
  opened = await openTestDatabase();
  application = await opened.database.transact((tx) => insertApplication(tx));
});
afterAll(() => opened.close());

const insertEvents = (...seqs: number[]) =>
  opened.database.transact((tx) => insertNumberedEvents(tx, application, seqs));

test('reads late events, gives up on missing numbers after a while, and omits too many at once', async () => {
  const clock = createManualClock(0);
  const reader = new ChangeReader(clock);
  const read = async () => (await reader.read(opened.database.read))?.map(({ seq }) => seq);
  await insertEvents(1);
  await reader.moveToEnd(opened.database.read);
  await insertEvents(2, 5);
  expect(await read()).toEqual([2, 5]);
  expect(reader.position).toEqual({ seq: 5, missing: [3, 4] });
  await insertEvents(4, 6);
  expect(await read()).toEqual([4, 6]);
  expect(reader.position).toEqual({ seq: 6, missing: [3] });
  clock.advance(11_000);
  expect(await read()).toEqual([]);
  expect(reader.position).toEqual({ seq: 6, missing: [] });
  await insertEvents(...Array.from({ length: 501 }, (_, n) => 7 + n));
  expect(await read()).toBeUndefined();
  expect(reader.position).toEqual({ seq: 507, missing: [] });
});
