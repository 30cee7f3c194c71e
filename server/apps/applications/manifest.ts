/**
 * Requirements of an executable. Fields of the activation request win; the manifest completes absent fields, because early
 * clients send only type and runtime.
 */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import {
  type ActivatedManifest,
  convertManifest,
  findPipRequirements,
} from '@switchyard/contract/applications/manifest/manifest.ts';
import { MANIFEST_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { isDeeper, LEVELS_MAX } from '@switchyard/contract/schemas/is-deeper.ts';

/** Returns the requested requirements in JSON, completed by the manifest, or the message that says why they are too large. */
export function completeRequirements(
  requested: Requirements,
  manifest: ActivatedManifest,
): { requirements: Requirements; json: string } | { error: string } {
  const requirements = convertManifest(manifest, requested);
  if (isDeeper(requirements))
    return { error: `The requirements are nested deeper than ${LEVELS_MAX} levels.` };
  const json = JSON.stringify(requirements);
  if (Buffer.byteLength(json) > MANIFEST_BYTES_MAX)
    return { error: `The requirements are longer than ${MANIFEST_BYTES_MAX} bytes.` };
  return { requirements, json };
}

const PACKAGES_FOLDER = '.nextmv/python/deps/';

/**
 * Returns the warning about an archive without the Python packages that its manifest names; undefined when it has them.
 * The push is not refused, because the packages may be installed in the Python of the host.
 */
export function describeMissingPackages(
  manifest: ActivatedManifest,
  files: readonly string[],
): string | undefined {
  if (!findPipRequirements(manifest) || files.some((path) => path.startsWith(PACKAGES_FOLDER)))
    return undefined;
  return `app.yaml has python.pip-requirements, but the archive has no packages in ${PACKAGES_FOLDER}, so their imports fail unless the Python of the server has them. npm run push installs and packs them.`;
}
