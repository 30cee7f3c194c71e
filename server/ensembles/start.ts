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
import {
  type EnsembleDefinition,
  listRequestedChildRuns,
  omitOptions,
  parseStoredDefinition,
} from './definition.ts';
import { findEnsemble } from './store.ts';

/** Creates the run and plans its child runs. Throws a 400 for a missing definition, or for one that cannot run. */
export async function startEnsemble<R>(parts: SubmitParts<R>, request: EnsembleRunRequest): Promise<R> {
  const { application, definitionId, configuration } = request;
  rejectSettings(configuration);
  const found = await findEnsemble(parts.database.read, application.uid, definitionId);
  if (!found)
    throw badRequest(
      `configuration.run_type.definition_id is ${quoteValue(definitionId)}; the application ${quoteValue(application.id)} has no such ensemble definition.`,
    );
  const definition = parseStoredDefinition(found.definition);
  const formats = await resolveFormatsOfGroups(parts.database.read, request, definition);
  const children = listRequestedChildRuns(definition).map(({ runGroupId, repetition, group }, position) => ({
    position,
    instanceId: group.instance_id,
    versionId: '',
    options: mergeOptions(request, group),
    priority: configuration.queuing?.priority ?? null,
    labels: { run_group_id: runGroupId, repetition },
  }));
  return submitEnsemble(parts, {
    ...request,
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
  const requested = Object.entries(options ?? {}).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(requested), ...group.options };
}

/** Throws a 400 for a setting that the instances decide: ignoring it would mislead the caller. */
function rejectSettings(configuration: EnsembleRunRequest['configuration']): void {
  const settings = {
    execution_class: configuration.execution_class,
    secrets_collection_id: configuration.secrets_collection_id,
    'queuing.disabled': configuration.queuing?.disabled,
  };
  for (const [field, value] of Object.entries(settings))
    if (value)
      throw badRequest(
        `configuration.${field} is ${quoteValue(value)}; the instances of the run groups decide it for the runs of an ensemble. Leave it out.`,
      );
}

/** Returns the formats of the run. Throws a 400 that names the run group that cannot run. */
async function resolveFormatsOfGroups(
  db: Reader,
  request: EnsembleRunRequest,
  definition: EnsembleDefinition,
): Promise<Formats> {
  const { application, configuration, definitionId, managed, role } = request;
  const resolved = new Map<string, ExecutableTarget>();
  let agreed: { formats: Formats; group: string } | null = null;
  for (const group of definition.run_groups) {
    try {
      const target =
        resolved.get(group.instance_id) ?? (await resolveInstance(db, application, group.instance_id));
      resolved.set(group.instance_id, target);
      resolveOptions(target, mergeOptions(request, group), listHiddenOptions(target.executable, role));
      const formats = resolveGroupFormats(target, configuration, managed?.format);
      agreed ??= { formats, group: group.id };
      if (agreed.formats.input !== formats.input)
        throw badRequest(
          `Its app takes ${formats.input} input, but the app of the run group ${quoteValue(agreed.group)} takes ${agreed.formats.input}; all runs of an ensemble share one input.`,
        );
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw badRequest(
        `The run group ${quoteValue(group.id)} of the ensemble ${quoteValue(definitionId)} cannot run. ${error.message}`,
      );
    }
  }
  return agreed?.formats ?? { input: 'json', output: 'json' };
}

/**
 * Returns the formats of the runs of a group. Throws a 400 when the request names another output format than the input
 * format leads to, because child runs are resolved by their input format alone.
 */
function resolveGroupFormats(
  { requirements, configuration }: ExecutableTarget,
  requested: EnsembleRunRequest['configuration'],
  managed: FormatType | undefined,
): Formats {
  const { input, output } = resolveFormats(requirements, configuration, requested, managed);
  const childFormats = resolveFormats(requirements, configuration, {}, input);
  if (childFormats.output !== output)
    throw badRequest(
      `configuration.format.output.type is ${quoteValue(requested.format?.output?.type ?? '')}; its app returns ${childFormats.output} for ${input} input.`,
    );
  return childFormats;
}
