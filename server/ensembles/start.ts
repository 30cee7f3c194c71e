/**
 * Makes a run of an ensemble. What can be known beforehand is settled here, for every run group: that its instance is there
 * and has something to run, that the app takes the options, and that all take one format of input. The run and what is
 * planned for it are one transaction.
 */

import type { RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { listHiddenOptions } from '../applications/executable.ts';
import { badRequest, Problem, quoteValue } from '../http/errors/problem.ts';
import type { RunsTable } from '../runs/store/schema.ts';
import type { EnsembleRunRequest } from '../runs/submit/create-run.ts';
import { type Formats, resolveFormats } from '../runs/submit/formats.ts';
import { type ExecutableTarget, resolveInstance } from '../runs/submit/resolve-instance.ts';
import { resolveOptions, type SubmitParts, submitEnsemble } from '../runs/submit/submit.ts';
import { type EnsembleDefinition, listRequestedChildRuns, omitOptions } from './definition.ts';
import { findEnsemble } from './store.ts';

type Parts = Pick<SubmitParts, 'database' | 'clock' | 'random'>;

export async function startEnsemble(parts: Parts, asked: EnsembleRunRequest): Promise<RunsTable> {
  const { application, definitionId, configuration } = asked;
  refuseSettings(configuration);
  const found = await findEnsemble(parts.database.read, application.uid, definitionId);
  if (!found)
    throw badRequest(
      `configuration.run_type.definition_id is ${quoteValue(definitionId)}; the application ${quoteValue(application.id)} has no such ensemble definition.`,
    );
  const definition = JSON.parse(found.definition) as EnsembleDefinition;
  const formats = await settle(parts, asked, definition);
  const children = listRequestedChildRuns(definition).map(({ runGroupId, repetition, group }, position) => ({
    position,
    instanceId: group.instance_id,
    versionId: '',
    options: optionsOf(asked, group),
    priority: configuration.queuing?.priority ?? null,
    labels: { run_group_id: runGroupId, repetition },
  }));
  return submitEnsemble(
    { ...parts, onQueued: () => {}, onEnded: () => {} },
    { ...asked, definition: JSON.stringify(omitOptions(definition)), formats, children },
  );
}

/** What the request gives as options goes to every run; where the run group has the option too, that of the group holds. */
function optionsOf(
  { options }: Pick<EnsembleRunRequest, 'options'>,
  group: RunGroup,
): Record<string, string> {
  const given = Object.entries(options ?? {}).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(given), ...group.options };
}

/** Runs of an ensemble are as their instances say: what one run of its own may choose is refused, not ignored. */
function refuseSettings(configuration: EnsembleRunRequest['configuration']): void {
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

/** The formats of the run, once every run group has shown that it can be run. */
async function settle(
  parts: Parts,
  asked: EnsembleRunRequest,
  definition: EnsembleDefinition,
): Promise<Formats> {
  const { application, configuration, definitionId, managed, role } = asked;
  const resolved = new Map<string, ExecutableTarget>();
  let agreed: { formats: Formats; group: string } | null = null;
  for (const group of definition.run_groups) {
    try {
      const place =
        resolved.get(group.instance_id) ??
        (await resolveInstance(parts.database.read, application, group.instance_id));
      resolved.set(group.instance_id, place);
      resolveOptions(place, optionsOf(asked, group), listHiddenOptions(place.executable, role));
      const formats = formatsIn(place, configuration, managed?.format);
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

/** Each run is made on the format of the input alone, so what the request says of its output has to be what comes of that. */
function formatsIn(
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
