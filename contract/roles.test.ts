import { describe, expect, test } from 'vitest';
import { operations } from './operations.ts';
import { canGrant, hasRight, RIGHTS, ROLES, type Role, rolesWithRight } from './roles.ts';

describe('rights of roles', () => {
  test.each([
    ['public', ['root', 'admin', 'developer', 'operator', 'viewer', 'unassigned']],
    ['read', ['root', 'admin', 'developer', 'operator', 'viewer']],
    ['views', ['root', 'admin', 'developer', 'operator', 'viewer']],
    ['keys', ['root', 'admin', 'developer', 'operator', 'viewer']],
    ['run', ['root', 'admin', 'developer', 'operator']],
    ['experiment', ['root', 'admin', 'developer', 'operator']],
    ['write', ['root', 'admin', 'developer']],
    ['read-secrets', ['root', 'admin', 'developer']],
    ['account', ['root', 'admin']],
    ['server', ['root']],
  ] as const)('%s', (right, roles) => {
    expect(rolesWithRight(right)).toEqual(roles);
  });

  test('each role has every right of the role below it', () => {
    for (const [index, role] of ROLES.slice(1).entries()) {
      const above = ROLES[index] ?? 'root';
      expect(RIGHTS.filter((right) => hasRight(role, right) && !hasRight(above, right))).toEqual([]);
    }
  });
});

describe('granting of roles', () => {
  test.each(ROLES)('%s grants its own role and weaker ones', (granter) => {
    const granted = ROLES.filter((role) => canGrant(granter, role));
    expect(granted).toEqual(ROLES.slice(ROLES.indexOf(granter)));
  });
});

test('a viewer may call every reading operation, and a POST only if it computes', () => {
  const viewer: Role = 'viewer';
  // Every role manages its own keys and views, and a signed URL needs no role.
  const others = Object.values(operations).filter(
    ({ right }) => !['public', 'keys', 'views'].includes(right),
  );
  const allowed = others
    .filter(({ right }) => hasRight(viewer, right))
    .map(({ id, method }) => `${method} ${id}`);
  expect(allowed.length).toBeGreaterThan(0);
  expect(allowed.filter((call) => !call.startsWith('GET '))).toEqual([
    'POST planExperiment',
    'POST planBisectExperiment',
  ]);
});
