import type { ExecutableType } from '@switchyard/contract/applications/executables.ts';
import { checkManifest } from '@switchyard/contract/applications/manifest/check-manifest.ts';
import { MANIFEST_NAME, PackedManifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { parse } from 'yaml';

/** The part of a manifest that the activation must name; the server reads the rest from the archive. */
export interface ManifestHead {
  executable_type: ExecutableType;
  runtime: string;
}

/** Returns type and runtime of a manifest. Throws the sentence about its first mistake. */
export function readManifestHead(text: string): ManifestHead {
  const checked = checkManifest(PackedManifest, parseYaml(text));
  if ('error' in checked) throw new Error(checked.error);
  const { type, runtime } = checked.manifest;
  return { executable_type: type, runtime };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('\n', 1) : [];
    throw new Error(`${MANIFEST_NAME} is not YAML: ${reason}`);
  }
}
