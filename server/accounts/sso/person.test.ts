/** Claims of strangers: many groups, and addresses that only look like one. */
import type { Role } from '@switchyard/contract/roles.ts';
import { expect, test } from 'vitest';
import type { SsoSettings } from '../../platform/settings/sso-settings.ts';
import { readPerson } from './person.ts';

const groups = Array.from({ length: 5_000 }, (_, index) => `group-${index}`);
const groupRoles = new Map<string, Role>([
  ...groups.map((name): [string, Role] => [name, 'viewer']),
  ['last', 'admin'],
]);
const settings: SsoSettings = {
  ...{ issuer: 'https://idp.example', clientId: 'switchyard', clientSecret: null, cliClientId: null },
  ...{ account: null, scopes: 'openid', domains: ['example.com'], groupsClaim: 'groups', groupRoles },
};
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };

test('A14: thousands of groups with a role are read once each, and more are refused', () => {
  // The roles of 5,000 groups were compared in pairs, which took 25 million comparisons.
  const claims = { ...ADA, groups: [...groups.slice(1), 'last'] };
  expect(readPerson(claims, settings).role).toBe('admin');
  expect(() => readPerson({ ...ADA, groups: [...groups, 'last'] }, settings)).toThrow('has 5001 groups');
});

test.each([
  '<ada@example.com',
  '"ada"@example.com',
  'ada,@example.com',
  '.ada@example.com',
  'ada..b@example.com',
])('A14: %s signs nobody in', (email) => {
  expect(() => readPerson({ ...ADA, email }, settings)).toThrow('without quotes and brackets');
});

test('A14: the name of a person has one line of visible text', () => {
  const person = readPerson(
    { ...ADA, name: 'A\u202ed\na\u2028\u001b[2J' },
    { ...settings, groupRoles: null },
  );
  expect(person.name).toBe('Ada[2J');
});
