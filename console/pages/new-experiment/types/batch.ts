/** The forms of batch experiments and scenario tests. */
import type { TypeOfKind } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { readExperiment } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { client } from '../../../client/client.ts';
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
import { buildFields, GROUPS, toPercentText } from '../fields.ts';
import { expandSides } from './count-runs.ts';
import {
  buildSide,
  countPastRepetitions,
  formatSide,
  type SourceAddress,
  type TypeForm,
} from './type-form.ts';

type BatchType = TypeOfKind<'batch'>;

/** Returns the form of one of the two types. */
export function createBatchForm(type: BatchType): TypeForm {
  return {
    build: (draft) => ({
      ...(type === 'scenario' && {
        ...{ type, option_sets: readOptionSets(draft.optionSets) },
        ...(draft.usesRacing && { racing: buildFields(draft, GROUPS.race ?? []) }),
      }),
      ...(draft.inputSet !== '' && { input_set_id: draft.inputSet }),
      ...buildSides(type, draft),
    }),
    listUnused(draft) {
      if (draft.listedRuns.trim() !== '') return ['repetitions', 'seeds'];
      if (splitList(draft.seeds).length === 0)
        return hasEnsemble(draft) ? ['repetitions', 'seeds'] : ['seeds'];
      // The server refuses seeds beside the runs of ensembles, and says what to do.
      return ['repetitions'];
    },
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

const hasEnsemble = ({ control, candidates }: ExperimentDraft): boolean =>
  [control, ...candidates].some((side) => parseEnsembleSide(side) !== undefined);

/** Returns the instances, or the runs one by one where the form lists them or a side is an ensemble. */
function buildSides(type: BatchType, draft: ExperimentDraft) {
  const listed = readListedRuns(draft);
  if (listed !== undefined) return { runs: listed };
  const sides = [draft.control, ...draft.candidates];
  if (!hasEnsemble(draft)) return { instance_ids: sides };
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
  };
}

async function readBatch(address: SourceAddress) {
  const batch = await readExperiment(client, { type: 'batch', ...address });
  const { instance_ids, comparisons, option_sets, racing } = batch;
  // An experiment on listed runs names its sides only in the comparisons.
  const groups = comparisons.flatMap(({ control, candidate }) => [control, candidate]);
  const sides = instance_ids.length > 0 ? instance_ids : [...new Set(groups.map(formatSide))];
  const [control, ...candidates] = sides;
  return {
    values: { ...batch, repetitions: countPastRepetitions(batch.runs) },
    parts: {
      inputSet: batch.input_set_id,
      ...(control !== undefined && { control, candidates }),
      ...(Object.keys(option_sets).length > 0 && { optionSets: JSON.stringify(option_sets, null, 2) }),
      usesRacing: racing !== undefined,
      ...(racing && { raceConfidence: toPercentText(racing.confidence) }),
    },
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
