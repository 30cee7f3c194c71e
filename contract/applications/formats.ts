/** Resolves the formats of a run: from the manifest of its app, else the run, else the instance, else JSON. */
import { type FormatType, isArchive } from '../schemas/field-schemas.ts';
import type { Requirements } from './executables.ts';

/** The formats that a caller asks for. */
interface RequestedFormats {
  format?: { input?: { type: FormatType }; output?: { type: FormatType } } | null;
}

export interface Formats {
  input: FormatType;
  output: FormatType;
}

/**
 * Returns the formats of a run on this server. JSON and text both go to stdin, so a run may choose between the two whatever
 * the manifest says. For files, the manifest decides. Without a format in the manifest the caller decides for input and
 * output separately. `managed` is the format of a managed input and overrides the requested one.
 */
export function resolveFormats(
  requirements: Requirements | null,
  instance: RequestedFormats,
  run: RequestedFormats,
  managed?: FormatType,
): Formats {
  const manifest = requirements?.io_configuration?.format || undefined;
  const requested = managed ?? run.format?.input?.type ?? instance.format?.input?.type;
  const usesStdin = (format: FormatType | undefined): boolean =>
    format === undefined || format === 'json' || format === 'text';
  const input =
    manifest && !(usesStdin(manifest) && requested && usesStdin(requested))
      ? manifest
      : (requested ?? 'json');
  // An archive format in a manifest holds for input and output.
  const output =
    manifest !== undefined && isArchive(manifest)
      ? manifest
      : (run.format?.output?.type ?? instance.format?.output?.type ?? input);
  return { input, output: usesStdin(output) ? 'json' : output };
}
