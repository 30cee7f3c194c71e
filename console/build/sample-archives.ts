/**
 * Packs the sample apps, each for the machine of the build, with its sample input: for the gallery of the console, and as the
 * community apps of the published client.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packApp } from '@switchyard/cli/packing/pack.ts';
import type { ExecutableType } from '@switchyard/contract/applications/executables.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { SAMPLES } from '../pages/applications/sample-list.ts';

/** The types of apps that the client knows; it fails after cloning any other one. */
const CLIENT_TYPES: ReadonlySet<ExecutableType> = new Set(['python', 'go', 'java', 'binary']);

/** Returns the archive and the input of each sample app and the list of community apps, by path in the build. */
export async function packSamples(repository: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const manifest: unknown = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const version = isRecord(manifest) ? String(manifest.version) : '';
  const apps: object[] = [];
  for (const { folder: name, description } of SAMPLES) {
    const folder = join(repository, 'sample-apps', name);
    const { archive, manifest } = await packApp(folder);
    files.set(`samples/${name}.tgz`, Buffer.from(await archive.arrayBuffer()));
    files.set(`samples/${name}.json`, readFileSync(join(folder, 'input.json')));
    if (CLIENT_TYPES.has(manifest.type))
      apps.push({ name, type: manifest.type, description, ...listVersions(`v${version}`) });
  }
  files.set('samples/community.json', Buffer.from(JSON.stringify({ apps })));
  return files;
}

/** The versions of a community app: the one of this release. */
function listVersions(version: string) {
  return {
    app_versions: [version],
    latest_app_version: version,
    marketplace_versions: [],
    latest_marketplace_version: '',
  };
}
