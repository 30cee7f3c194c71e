/** Reads the attack tables of README.md, which contain the expected results. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Columns of the first table. */
export const ATTACK_MODES = ['sandbox, root', 'sandbox, user', 'limits, root', 'limits, user'] as const;

interface AttackRow<Mode extends string> {
  name: string;
  cells: Record<Mode, string>;
}

/** Columns of the second table, as root. */
export const CGROUP_ATTACK_MODES = ['sandbox, cgroups', 'limits, cgroups'] as const;

/** Returns the rows of the table with these columns whose last cell links to a test file. */
export function readAttackTable<Mode extends string>(
  test: string,
  modes: readonly Mode[],
): AttackRow<Mode>[] {
  const text = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  return text.split('\n').flatMap((line) => {
    const [, name = '', ...cells] = line.split('|').map((cell) => cell.trim());
    if (!(cells[modes.length] ?? '').includes(`(../${test})`)) return [];
    const results = Object.fromEntries(modes.map((mode, index) => [mode, cells[index]]));
    return [{ name, cells: results as AttackRow<Mode>['cells'] }];
  });
}
