import { globSync } from 'node:fs';
import { join } from 'node:path';
import { Manifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { expect, test } from 'vitest';
import { formatJsonSchema } from '../applying/file-schema.ts';
import { readAppManifest } from './manifest.ts';

const repository = join(import.meta.dirname, '..', '..');
const APPS = globSync(['sample-apps/*/app.yaml', 'cli/templates/*/app.yaml'], { cwd: repository });

test.each(APPS)('%s has no mistake and no field without effect', (path) => {
  expect(readAppManifest(join(repository, path, '..'))).toMatchObject({ warnings: [] });
});

test('the published schema of app.yaml is that of the code', async () => {
  await expect(`${JSON.stringify(formatJsonSchema(Manifest), null, 2)}\n`).toMatchFileSnapshot(
    'app.schema.json',
  );
});
