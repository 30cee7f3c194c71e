import { describe, expect, test } from 'vitest';
import { operations } from './operations.ts';
import { canGrant, hasRight, RIGHTS, ROLES, type Role, rolesWithRight } from './roles.ts';

describe('who may do what', () => {
  test.each([
    ['public', ['root', 'admin', 'developer', 'operator', 'viewer', 'unassigned']],
    ['read', ['root', 'admin', 'developer', 'operator', 'viewer']],
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

  test('the roles stand in order: each has every right of the one after it', () => {
    for (const [index, role] of ROLES.slice(1).entries()) {
      const above = ROLES[index] ?? 'root';
      expect(RIGHTS.filter((right) => hasRight(role, right) && !hasRight(above, right))).toEqual([]);
    }
  });
});

describe('keys are given by those who have their rights', () => {
  test.each(ROLES)('%s gives its own role and weaker ones', (granter) => {
    const granted = ROLES.filter((role) => canGrant(granter, role));
    expect(granted).toEqual(ROLES.slice(ROLES.indexOf(granter)));
  });
});

test('reading needs no more than the right to read, and changing needs more', () => {
  const viewer: Role = 'viewer';
  // Keys are everyone's own; what a signed URL names needs no role.
  const others = Object.values(operations).filter(({ right }) => right !== 'public' && right !== 'keys');
  const allowed = others
    .filter(({ right }) => hasRight(viewer, right))
    .map(({ id, method }) => `${method} ${id}`);
  expect(allowed.length).toBeGreaterThan(0);
  expect(allowed.filter((call) => !call.startsWith('GET '))).toEqual([]);
});
