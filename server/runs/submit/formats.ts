/** The formats of a run: what the app's manifest says, else what the run says, else the instance, else JSON. Pure. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { RequestedConfiguration } from '../../instances/rules.ts';

export interface Formats {
  input: FormatType;
  output: FormatType;
}

/**
 * JSON and text both go to stdin, so a run may choose between the two whatever the manifest says; archives need an app
 * that reads files, which only the manifest can promise, or the caller where the manifest is silent; then the caller may
 * also say that the app takes JSON and leaves files, or the other way about. `managed` is the
 * format of a managed input, which is known, whatever the run says.
 */
export function resolveFormats(
  requirements: Requirements | null,
  instance: RequestedConfiguration,
  run: RequestedConfiguration,
  managed?: FormatType,
): Formats {
  const manifest = requirements?.io_configuration?.format || undefined;
  const asked = managed ?? run.format?.input?.type ?? instance.format?.input?.type;
  const onStdin = (format: FormatType | undefined): boolean =>
    format === undefined || format === 'json' || format === 'text';
  const input = manifest && !(onStdin(manifest) && asked && onStdin(asked)) ? manifest : (asked ?? 'json');
  // A manifest that promises files promises them both ways.
  const files = manifest !== undefined && isArchive(manifest);
  const output = files ? manifest : (run.format?.output?.type ?? instance.format?.output?.type ?? input);
  return { input, output: onStdin(output) ? 'json' : output };
}

/** The formats of a run that is not executed here: what the run says, else what the app has. */
export function resolveExternalFormats(
  requirements: Requirements | null,
  instance: RequestedConfiguration,
  run: RequestedConfiguration,
  managed?: FormatType,
): Formats {
  const known = resolveFormats(requirements, instance, {});
  const input = managed ?? run.format?.input?.type ?? known.input;
  return { input, output: run.format?.output?.type ?? (isArchive(input) ? input : known.output) };
}
