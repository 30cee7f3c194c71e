/**
 * Creates the run of an ensemble. Checks every run group first: its instance exists and has an executable, its app accepts
 * the options, and all apps take the same input format. The run and its planned child runs are one transaction.
 */
import type { RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { listHiddenOptions } from '../applications/executable.ts';
import type { Reader } from '../database/database.ts';
import { badRequest, Problem, quoteValue } from '../http/errors/problem.ts';
import type { EnsembleRunRequest } from '../runs/submit/create-run.ts';
import { type Formats, resolveFormats } from '../runs/submit/formats.ts';
import { type ExecutableTarget, resolveInstance } from '../runs/submit/resolve-instance.ts';
import { resolveOptions, type SubmitParts, submitEnsemble } from '../runs/submit/submit.ts';
import { type EnsembleDefinition, listRequestedChildRuns, omitOptions } from './definition.ts';
import { findEnsemble } from './store.ts';

/** Creates the run and plans its child runs. Throws a 400 for a missing definition, or for one that cannot be run. */
export async function startEnsemble<R>(parts: SubmitParts<R>, asked: EnsembleRunRequest): Promise<R> {
  const { application, definitionId, configuration } = asked;
  rejectSettings(configuration);
  const found = await findEnsemble(parts.database.read, application.uid, definitionId);
  if (!found)
    throw badRequest(
      `configuration.run_type.definition_id is ${quoteValue(definitionId)}; the application ${quoteValue(application.id)} has no such ensemble definition.`,
    );
  const definition = JSON.parse(found.definition) as EnsembleDefinition;
  const formats = await resolveFormatsOfGroups(parts.database.read, asked, definition);
  const children = listRequestedChildRuns(definition).map(({ runGroupId, repetition, group }, position) => ({
    position,
    instanceId: group.instance_id,
    versionId: '',
    options: mergeOptions(asked, group),
    priority: configuration.queuing?.priority ?? null,
    labels: { run_group_id: runGroupId, repetition },
  }));
  return submitEnsemble(parts, {
    ...asked,
    definition: JSON.stringify(omitOptions(definition)),
    formats,
    children,
  });
}

/** The options of the request go to every child run; the value of the run group takes precedence. */
function mergeOptions(
  { options }: Pick<EnsembleRunRequest, 'options'>,
  group: RunGroup,
): Record<string, string> {
  const given = Object.entries(options ?? {}).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(given), ...group.options };
}

/** The instances decide the settings of child runs, so settings in the request are refused, not ignored. */
function rejectSettings(configuration: EnsembleRunRequest['configuration']): void {
  const given = {
    execution_class: configuration.execution_class,
    secrets_collection_id: configuration.secrets_collection_id,
    'queuing.disabled': configuration.queuing?.disabled,
  };
  for (const [field, value] of Object.entries(given))
    if (value)
      throw badRequest(
        `configuration.${field} is ${quoteValue(value)}; the runs of an ensemble are made as the instances of its run groups say, so leave it out.`,
      );
}

/** Returns the formats of the run. Throws a 400 that names the run group that cannot be run. */
async function resolveFormatsOfGroups(
  db: Reader,
  asked: EnsembleRunRequest,
  definition: EnsembleDefinition,
): Promise<Formats> {
  const { application, configuration, definitionId, managed, role } = asked;
  const resolved = new Map<string, ExecutableTarget>();
  let agreed: { formats: Formats; group: string } | null = null;
  for (const group of definition.run_groups) {
    try {
      const place =
        resolved.get(group.instance_id) ?? (await resolveInstance(db, application, group.instance_id));
      resolved.set(group.instance_id, place);
      resolveOptions(place, mergeOptions(asked, group), listHiddenOptions(place.executable, role));
      const formats = resolveGroupFormats(place, configuration, managed?.format);
      agreed ??= { formats, group: group.id };
      if (agreed.formats.input !== formats.input)
        throw badRequest(
          `Its app takes ${formats.input}, and that of the run group ${quoteValue(agreed.group)} ${agreed.formats.input}; the runs of an ensemble have one input.`,
        );
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw badRequest(
        `The run group ${quoteValue(group.id)} of the ensemble ${quoteValue(definitionId)} cannot be run. ${error.message}`,
      );
    }
  }
  return agreed?.formats ?? { input: 'json', output: 'json' };
}

/** The format of the input alone decides the output of a child run, so the requested output format must match it. */
function resolveGroupFormats(
  { requirements, configuration }: ExecutableTarget,
  asked: EnsembleRunRequest['configuration'],
  managed: FormatType | undefined,
): Formats {
  const { input, output } = resolveFormats(requirements, configuration, asked, managed);
  const made = resolveFormats(requirements, configuration, {}, input);
  if (made.output !== output)
    throw badRequest(
      `configuration.format.output.type is ${quoteValue(asked.format?.output?.type ?? '')}; an app that is given ${input} leaves ${made.output} here.`,
    );
  return made;
}
