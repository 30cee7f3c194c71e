/**
 * Requirements of an executable. Fields of the activation request win; the manifest completes absent fields, because early
 * clients send only type and runtime.
 */
import { Requirements } from '@switchyard/contract/applications/executables.ts';
import { convertManifest, toFields, toText } from '@switchyard/contract/applications/manifest.ts';
import { MANIFEST_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { compileSchema } from '../http/requests/validation.ts';
import { formatValidationError } from '../http/requests/validation-messages.ts';

/** More than the definition of any option needs. Much deeper values exceed the stack of JSON.stringify in responses. */
const LEVELS_MAX = 64;

/** Returns the requested requirements, completed by the manifest, or the message that says why the result is invalid. */
export function completeRequirements(
  requested: Requirements,
  manifest: unknown,
): { requirements: Requirements } | { error: string } {
  const requirements = convertManifest(manifest, requested);
  if (!requirements) return { error: 'app.yaml must be a map of fields.' };
  if (isDeeper(requirements, LEVELS_MAX))
    return { error: `The requirements are nested deeper than ${LEVELS_MAX} levels.` };
  const json = JSON.stringify(requirements);
  if (Buffer.byteLength(json) > MANIFEST_BYTES_MAX)
    return { error: `The requirements are longer than ${MANIFEST_BYTES_MAX} bytes.` };
  // Validates the value that a later read returns: JSON omits undefined fields, which the schema would reject.
  const stored: unknown = JSON.parse(json);
  // Not at the start, of which the compilation took 4 %.
  const validate = compileSchema(Requirements);
  if (!validate(stored))
    return {
      error: `configuration of app.yaml is invalid: ${formatValidationError(validate.errors ?? [], 'body')}`,
    };
  return { requirements: stored };
}

const PACKAGES_FOLDER = '.nextmv/python/deps/';

/**
 * Returns the warning about an archive without the Python packages that its manifest names; undefined when it has them.
 * The push is not refused, because the packages may be installed in the Python of the host.
 */
export function describeMissingPackages(manifest: unknown, files: readonly string[]): string | undefined {
  const python = toFields(toFields(manifest)?.python);
  const requirements = python?.['pip-requirements'] ?? python?.pip_requirements;
  const isNamed = Array.isArray(requirements) ? requirements.length > 0 : toText(requirements) !== undefined;
  if (!isNamed || files.some((path) => path.startsWith(PACKAGES_FOLDER))) return undefined;
  return `app.yaml has python.pip-requirements, but the archive has no packages in ${PACKAGES_FOLDER}, so their imports fail unless the Python of the server has them. npm run push installs and packs them.`;
}

/** Returns true for a value nested deeper than the levels. It is a loop, because a recursion overflows the stack. */
function isDeeper(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let level = 0; layer.length > 0; level += 1) {
    if (level > levels) return true;
    layer = layer.flatMap((one) =>
      typeof one === 'object' && one !== null
        ? Object.values(one).filter((inner) => typeof inner === 'object')
        : [],
    );
  }
  return false;
}
