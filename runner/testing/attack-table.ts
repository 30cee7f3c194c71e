/** The tables of attacks in README.md, which are what the tests expect. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ATTACK_MODES = ['sandbox, root', 'sandbox, user', 'limits, root', 'limits, user'] as const;

export interface AttackRow<Mode extends string> {
  name: string;
  cells: Record<Mode, string>;
}

/** The columns of the second table, as root. */
export const CGROUP_ATTACK_MODES = ['sandbox, cgroups', 'limits, cgroups'] as const;

/** Rows of the table with these columns whose last cell links to this test file of the repository. */
export function readAttackTable<Mode extends string>(
  test: string,
  modes: readonly Mode[],
): AttackRow<Mode>[] {
  const text = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  return text.split('\n').flatMap((line) => {
    const [, name = '', ...cells] = line.split('|').map((cell) => cell.trim());
    if (!(cells[modes.length] ?? '').includes(`(../${test})`)) return [];
    const verdicts = Object.fromEntries(modes.map((mode, place) => [mode, cells[place]]));
    return [{ name, cells: verdicts as AttackRow<Mode>['cells'] }];
  });
}
