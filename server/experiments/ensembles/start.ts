/**
 * Creates the run of an ensemble. Checks every run group first: its instance exists and has an executable, its app accepts
 * the options, and all apps take the same input format. The run and its planned child runs are one transaction.
 */
import { type Formats, resolveFormats } from '@switchyard/contract/applications/formats.ts';
import { countOptionChars } from '@switchyard/contract/applications/run-options.ts';
import type { RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { listConfidentialOptions, listHiddenOptions } from '../../apps/applications/executable.ts';
import type { ApplicationsTable, ExecutablesTable } from '../../apps/applications/schema.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { EnsembleDefinition } from '../../runs/run-columns.ts';
import type { EnsembleRunRequest } from '../../runs/submit/create-run.ts';
import type { PlannedEnsembleRun } from '../../runs/submit/planned-run-starter.ts';
import { type ExecutableTarget, resolveInstance } from '../../runs/submit/resolve-instance.ts';
import {
  type RunRequest,
  resolveOptions,
  type SubmitParts,
  submitEnsemble,
} from '../../runs/submit/submit.ts';
import { listRequestedChildRuns, omitOptions, parseEnsembleDefinition } from './definition.ts';
import { findPlannedEnsemble } from './planned-ensembles.ts';
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
  return submitDefinition(parts, request, {
    definition: parseEnsembleDefinition(found),
    hiddenOptions: (executable) => listHiddenOptions(executable, request.role),
  });
}

/**
 * Creates the planned run of an experiment by the definition that the experiment stores, and plans its child runs. Throws a
 * 400 for a definition that cannot run.
 */
export async function startPlannedEnsemble<R>(
  parts: SubmitParts<R>,
  request: PlannedEnsembleRun,
): Promise<R> {
  const { ownerUid, definitionId } = request;
  const definition = await findPlannedEnsemble(parts.database.read, ownerUid, definitionId);
  if (definition === undefined)
    throw badRequest(`The experiment of the ensemble ${quoteValue(definitionId)} has ended or was deleted.`);
  // Every role reads why a planned run was refused.
  return submitDefinition(parts, request, {
    definition,
    hiddenOptions: listConfidentialOptions,
  });
}

/** A definition to run, and the options of its apps that error messages must not name. */
interface DefinitionToRun {
  definition: EnsembleDefinition;
  hiddenOptions(executable: ExecutablesTable): ReadonlySet<string>;
}

async function submitDefinition<R>(
  parts: SubmitParts<R>,
  request: RunRequest & { definitionId: string },
  { definition, hiddenOptions }: DefinitionToRun,
): Promise<R> {
  const { application, configuration, definitionId, managed } = request;
  const { formats } = await resolveRunGroups(parts.database.read, {
    application,
    definition,
    definitionId,
    hiddenOptions,
    configuration,
    options: parseRequestedOptions(request.options),
    inputFormat: managed?.format,
  });
  const children = listRequestedChildRuns(definition).map(({ runGroupId, repetition, group }, position) => ({
    position,
    instanceId: group.instance_id,
    versionId: '',
    options: mergeOptions(parseRequestedOptions(request.options), group),
    priority: configuration.queuing?.priority ?? null,
    maxDuration: configuration.max_duration ?? null,
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
function mergeOptions(requested: Record<string, string>, group: RunGroup): Record<string, string> {
  return { ...requested, ...group.options };
}

function parseRequestedOptions(options: RunRequest['options']): Record<string, string> {
  return Object.fromEntries(Object.entries(options ?? {}).map(([name, value]) => [name, String(value)]));
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

/** A run of a definition, as far as its run groups decide whether it can start. */
export interface RunGroupsCheck extends DefinitionToRun {
  application: ApplicationsTable;
  definitionId: string;
  options: Record<string, string>;
  configuration: EnsembleRunRequest['configuration'];
  /** The format of the input, if it is known. */
  inputFormat: FormatType | undefined;
}

/** The run groups of a run that can start. */
export interface ResolvedRunGroups {
  formats: Formats;
  /** The instances of the groups with their executables. */
  targets: readonly ExecutableTarget[];
  /** Length of the options of all child runs in characters of JSON. */
  optionChars: number;
}

/** Resolves the run groups of a run. Throws a 400 that names the run group that cannot run. */
export async function resolveRunGroups(db: Reader, check: RunGroupsCheck): Promise<ResolvedRunGroups> {
  const { application, definition, definitionId, configuration, inputFormat } = check;
  const resolved = new Map<string, ExecutableTarget>();
  let agreed: { formats: Formats; group: string } | null = null;
  let optionChars = 0;
  for (const group of definition.run_groups) {
    try {
      const target =
        resolved.get(group.instance_id) ?? (await resolveInstance(db, application, group.instance_id));
      resolved.set(group.instance_id, target);
      const options = mergeOptions(check.options, group);
      const { summary } = resolveOptions(target, options, check.hiddenOptions(target.executable));
      optionChars += countOptionChars(summary) * group.repetitions;
      const formats = resolveGroupFormats(target, configuration, inputFormat);
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
  const formats = agreed?.formats ?? { input: 'json', output: 'json' };
  return { formats, targets: [...resolved.values()], optionChars };
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
