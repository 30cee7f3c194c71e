/** Merged statements: the executed texts, and the rows of each caller. */
import { expect, test } from 'vitest';
import { MergedStatements, MultiRowInserts } from './merged-statements.ts';

/** Merges statements for a connection that records them. */
function recordStatements(findRows: (sql: string) => unknown[] = () => []) {
  const executed: { sql: string; parameters: readonly unknown[] }[] = [];
  const merged = new MergedStatements(new MultiRowInserts(() => {}), async (sql, parameters) => {
    executed.push({ sql, parameters });
    return findRows(sql);
  });
  return { executed, merged };
}

test('equal reads execute once, and each caller gets rows of its own', async () => {
  const { executed, merged } = recordStatements(() => [{ n: 1 }]);
  const select = 'select "n" from "numbers" where "id" = $1';
  const [one, same, other] = await Promise.all([
    merged.execute(select, ['a']),
    merged.execute(select, ['a']),
    merged.execute(select, ['b']),
  ]);
  expect(executed.map(({ parameters }) => parameters)).toEqual([['a'], ['b']]);
  expect([one, same, other]).toEqual([[{ n: 1 }], [{ n: 1 }], [{ n: 1 }]]);
  expect(one?.[0]).not.toBe(same?.[0]);
});

test('a later read executes again', async () => {
  const { executed, merged } = recordStatements();
  await merged.execute('select 1', []);
  await merged.execute('select 1', []);
  expect(executed).toHaveLength(2);
});

test('inserts of the same text become inserts of many rows', async () => {
  const { executed, merged } = recordStatements();
  const insert = 'insert into "t" ("a", "b") values ($1, case when $2 then 1 else 0 end)';
  await Promise.all([0, 1, 2].map((n) => merged.execute(insert, [n, true])));
  expect(executed).toEqual([
    {
      sql: 'insert into "t" ("a", "b") values ($1, case when $2 then 1 else 0 end), ($3, case when $4 then 1 else 0 end)',
      parameters: [0, true, 1, true],
    },
    { sql: insert, parameters: [2, true] },
  ]);
});

test.each([
  'delete from "t" where "a" = $1 returning "a"',
  'update "t" set "a" = $1',
  'insert into "t" ("a") values ($1) on conflict do nothing',
  'insert into "t" ("a") values ($1) returning "a"',
])('each caller executes its own %s', async (sql) => {
  const { executed, merged } = recordStatements();
  await Promise.all([merged.execute(sql, [1]), merged.execute(sql, [1])]);
  expect(executed).toEqual([
    { sql, parameters: [1] },
    { sql, parameters: [1] },
  ]);
});

test('a failing insert fails for each caller whose row it contains', async () => {
  const merged = new MergedStatements(new MultiRowInserts(() => {}), () =>
    Promise.reject(new Error('refused')),
  );
  const insert = 'insert into "t" ("a") values ($1)';
  const outcomes = await Promise.allSettled([merged.execute(insert, [1]), merged.execute(insert, [2])]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
