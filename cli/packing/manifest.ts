/** Reads the `app.yaml` of a folder. Throws with a sentence for a field that is wrong. */
import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkManifest } from '@switchyard/contract/applications/manifest/check-manifest.ts';
import { MANIFEST_NAME, Manifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { parse, YAMLParseError } from 'yaml';
import { CommandError } from '../errors/command-error.ts';

/** The manifest of an app, with sentences about fields that have no effect. */
export interface AppManifest {
  manifest: Manifest;
  warnings: string[];
}

export function readAppManifest(folder: string): AppManifest {
  const path = join(folder, MANIFEST_NAME);
  if (!existsSync(path))
    throw new CommandError(`${folder} has no ${MANIFEST_NAME}; it must be the folder of a decision app.`);
  const checked = checkManifest(Manifest, parseManifest(path), path);
  if ('error' in checked) throw new CommandError(checked.error);
  return checked;
}

function parseManifest(path: string): unknown {
  const bytes = readFileSync(path);
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new CommandError(
      `${path} is not UTF-8${looksLikeUtf16(bytes) ? '; it looks like UTF-16' : ''}. Save it as UTF-8.`,
    );
  try {
    return parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof YAMLParseError) throw new CommandError(`${path} is not YAML: ${error.message}`);
    throw error;
  }
}

/** Editors begin UTF-16 with a byte order mark; without one, each second byte of ASCII is zero. */
function looksLikeUtf16(bytes: Buffer): boolean {
  return /^(fffe|feff|00..00|..00..00)/.test(bytes.toString('hex', 0, 4));
}
