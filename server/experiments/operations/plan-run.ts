/** A requested run of a batch, and its planned run. Pure. */
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import type { InputId } from '@switchyard/contract/schemas/ids.ts';
import type { PlannedRun } from '../../runs/store/planned-runs.ts';

/** One requested run. An empty id means no instance, the version of the instance, or no ensemble. */
export interface RequestedRun {
  instance_id: string;
  version_id: string;
  ensemble_id: string;
  /** null for a run without an option set. */
  option_set: string | null;
  input_set_id: string;
  input_id: string;
  scenario_id: string | null;
  repetition: number;
}

/** The seeds of a request. */
export interface Seeds {
  /** The option that gets the seed. */
  option: string;
  /** The values of the option by repetition. */
  values: readonly string[];
}

/** The content of an input, as the experiment stores it. */
export interface InputContent {
  content_id: string;
  input_format: FormatType;
}

/** Everything else of a planned run. */
export interface RunParts {
  /** Number of the randomised block, and the place of the run in the order of submission. */
  block: number;
  position: number;
  content: InputContent;
  optionSets: ReadonlyMap<string, Record<string, string>>;
  seeds: Seeds | null;
}

/** Returns the planned run: its options are those of its option set, with its seed. */
export function planRun(
  run: RequestedRun,
  { block, position, content, optionSets, seeds }: RunParts,
): PlannedRun {
  return {
    position,
    instanceId: run.instance_id,
    versionId: run.version_id,
    ensembleId: run.ensemble_id || null,
    options: addSeed(optionSets.get(run.option_set ?? '') ?? {}, seeds, run.repetition),
    contentId: content.content_id,
    inputFormat: content.input_format,
    inputId: run.input_id as InputId,
    labels: {
      ...(run.option_set === null ? {} : { option_set: run.option_set }),
      ...(run.scenario_id === null ? {} : { scenario_id: run.scenario_id }),
      repetition: run.repetition,
      input_set_id: run.input_set_id,
      block,
    },
  };
}

/** Returns the options of a run: those of its option set, and its seed. */
export function addSeed(
  options: Readonly<Record<string, string>>,
  seeds: Seeds | null,
  repetition: number,
): Record<string, string> {
  const seed = seeds?.values[repetition];
  return seeds === null || seed === undefined ? { ...options } : { ...options, [seeds.option]: seed };
}
