/** The forms of batch experiments and scenario tests. */
import type { Client } from '@switchyard/contract/client.ts';
import type { TypeOfKind } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { readExperiment } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import {
  countOptionSets,
  countRepetitions,
  type ExperimentDraft,
  formatEnsembleSide,
  parseEnsembleSide,
  readListedRuns,
  readOptionSets,
} from '../draft.ts';
import { expandSides } from './count-runs.ts';
import {
  countPastRepetitions,
  type DraftValues,
  formatSide,
  readComparison,
  readNames,
  readRunSettings,
  toPercentText,
} from './draft-parts.ts';
import {
  buildComparison,
  buildInputProperties,
  buildRunSettings,
  buildSide,
  readPercent,
} from './request-parts.ts';
import type { SourceAddress, TypeForm } from './type-form.ts';

type BatchType = TypeOfKind<'batch'>;

/** Returns the form of one of the two types. */
export function createBatchForm(type: BatchType): TypeForm {
  return {
    build: (draft, names) => ({
      operation: 'createBatchExperiment',
      body: { ...names, ...buildBatch(type, draft) },
    }),
    read: readBatch,
    listWork: (draft, sizes) => {
      const sets = type === 'scenario' ? countOptionSets(draft) : 1;
      const listed = listRequestedRuns(draft, sizes.inputs);
      if (listed === undefined) return undefined;
      if (listed !== null) return listed.flatMap(({ side, runs }) => expandSides([side], runs, sizes));
      const runs = sizes.inputs * countRepetitions(draft) * sets;
      return expandSides([draft.control, ...draft.candidates], runs, sizes);
    },
  };
}

function buildBatch(type: BatchType, draft: ExperimentDraft) {
  return {
    ...(type === 'scenario' && { type, option_sets: readOptionSets(draft.optionSets) }),
    ...(draft.inputSet !== '' && { input_set_id: draft.inputSet }),
    ...buildSides(type, draft),
    ...buildComparison(draft),
    ...buildInputProperties(draft),
    ...buildRunSettings(draft),
    ...(type === 'scenario' &&
      draft.usesRacing && {
        racing: draft.confidence === '95' ? {} : { confidence: readPercent(draft.confidence) },
      }),
  };
}

/** Returns the instances, or the runs one by one where the form lists them or a side is an ensemble. */
function buildSides(type: BatchType, draft: ExperimentDraft) {
  const listed = readListedRuns(draft);
  if (listed !== undefined) return { runs: listed };
  const sides = [draft.control, ...draft.candidates];
  const seeds = splitList(draft.seeds);
  const seeded = { seeds, ...(draft.seedOption !== 'seed' && { seed_option: draft.seedOption }) };
  if (sides.every((side) => parseEnsembleSide(side) === undefined))
    return {
      instance_ids: sides,
      ...(seeds.length > 0
        ? seeded
        : draft.repetitions !== '1' && { repetitions: Number(draft.repetitions) }),
    };
  const sets = type === 'scenario' ? Object.keys(readOptionSets(draft.optionSets)) : [];
  // The first set of the control is what the others are compared with.
  const configurations = sides.flatMap((side) =>
    sets.length === 0 ? [buildSide(side)] : sets.map((set) => ({ ...buildSide(side), option_set: set })),
  );
  const repetitions = Array.from(
    { length: Math.max(Number(draft.repetitions) || 1, 1) },
    (_, index) => index,
  );
  return {
    runs: configurations.flatMap((configuration) =>
      repetitions.map((repetition) => ({ ...configuration, ...(repetition > 0 && { repetition }) })),
    ),
    // The server refuses seeds beside runs, and says what to do.
    ...(seeds.length > 0 && seeded),
  };
}

async function readBatch(client: Client, { application, id }: SourceAddress): Promise<DraftValues> {
  const batch = await readExperiment(client, { type: 'batch', application, id });
  // An experiment on listed runs names its sides only in the comparisons.
  const groups = batch.comparisons.flatMap(({ control, candidate }) => [control, candidate]);
  const sides = batch.instance_ids.length > 0 ? batch.instance_ids : [...new Set(groups.map(formatSide))];
  const [control, ...candidates] = sides;
  const sets = Object.keys(batch.option_sets).length;
  return {
    ...readNames(batch),
    ...readComparison(batch),
    inputSet: batch.input_set_id,
    ...(control !== undefined && { control, candidates }),
    repetitions: String(countPastRepetitions(batch.runs)),
    ...(batch.seeds && { seeds: batch.seeds.join(', ') }),
    ...(batch.seed_option !== undefined && { seedOption: batch.seed_option }),
    features: (batch.features ?? []).join(', '),
    clusterBy: (batch.cluster_by ?? []).join(', '),
    ...readRunSettings(batch),
    ...(sets > 0 && { optionSets: JSON.stringify(batch.option_sets, null, 2) }),
    usesRacing: batch.racing !== undefined,
    ...(batch.racing && { confidence: toPercentText(batch.racing.confidence) }),
  };
}

/** Returns the sides of the listed runs; null without any, undefined where they cannot be read or are of no instance. */
function listRequestedRuns(draft: ExperimentDraft, inputs: number) {
  try {
    const runs = readListedRuns(draft);
    if (runs === undefined) return null;
    const sides = runs.map(({ instance_id, ensemble_id, input_id }) => ({
      side: ensemble_id ? formatEnsembleSide(ensemble_id) : (instance_id ?? ''),
      runs: input_id ? 1 : inputs,
    }));
    return sides.some(({ side }) => side === '') ? undefined : sides;
  } catch {
    return undefined;
  }
}
