/** Packs the sample apps for the gallery of the console, each for the machine of the build, with its sample input. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packApp } from '@switchyard/cli/pack.ts';

/** Returns the archive and the input of each sample app, by path in the build. */
export async function packSamples(repository: string): Promise<Map<string, Buffer>> {
  const folder = join(repository, 'sample-apps');
  const files = new Map<string, Buffer>();
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory())) {
    const { archive } = await packApp(join(folder, name));
    files.set(`samples/${name}.tgz`, Buffer.from(await archive.arrayBuffer()));
    files.set(`samples/${name}.json`, readFileSync(join(folder, name, 'input.json')));
  }
  return files;
}
