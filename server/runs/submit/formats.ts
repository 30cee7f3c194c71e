/** Resolves the formats of a run: from the manifest of its app, else the run, else the instance, else JSON. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { RequestedConfiguration } from '../../instances/rules.ts';

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
  instance: RequestedConfiguration,
  run: RequestedConfiguration,
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

/**
 * Throws a 400 for an archive that the manifest of a subscribed app does not name. Files of the input could replace files of the
 * app, and the folder of the output could contain some.
 */
export function requireManifestFormats(
  { type, id }: Pick<ApplicationsTable, 'type' | 'id'>,
  requirements: Requirements,
  { input, output }: Formats,
): void {
  const manifest = requirements.io_configuration?.format;
  const foreign = [input, output].find((format) => isArchive(format) && format !== manifest);
  if (type !== 'subscription' || foreign === undefined) return;
  throw badRequest(
    `configuration.format has the type ${quoteValue(foreign)}, which the app of ${quoteValue(id)} does not use; leave it out, because ${quoteValue(id)} is the application of a subscription.`,
  );
}

/** Returns the formats of a run that is executed elsewhere: those of the request, else those of the app. */
export function resolveExternalFormats(
  requirements: Requirements | null,
  instance: RequestedConfiguration,
  run: RequestedConfiguration,
  managed?: FormatType,
): Formats {
  const appFormats = resolveFormats(requirements, instance, {});
  const input = managed ?? run.format?.input?.type ?? appFormats.input;
  return { input, output: run.format?.output?.type ?? (isArchive(input) ? input : appFormats.output) };
}
