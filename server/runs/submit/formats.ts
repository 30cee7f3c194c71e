/** Checks the formats of a run, and resolves those of a run that is executed elsewhere. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { type Formats, resolveFormats } from '@switchyard/contract/applications/formats.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import type { RequestedConfiguration } from '../../apps/instances/rules.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';

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
