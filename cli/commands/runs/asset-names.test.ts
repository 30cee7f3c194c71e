/** Names of the files of assets. */
import { expect, test } from 'vitest';
import { chooseFileName } from './asset-commands.ts';

test.each([
  ['Routes', 'asset-1', 'Routes.json'],
  ['../../.ssh/keys', 'asset-1', 'ssh-keys.json'],
  ['..', '../../.ssh/keys', 'ssh-keys.json'],
  ['taken', '../taken', 'taken-2.json'],
  ['taken.JSON', 'asset-9', 'asset-9.json'],
  ['', '../..', '2.json'],
])('A5: the asset %j with the id %j is the file %s of the folder', (name, id, file) => {
  expect(chooseFileName({ name, id }, { used: new Set(['taken.json']), position: 2 })).toBe(file);
});
