/** The settings that all runs of an experiment share, and the plan by which its runs are created. Pure. */
import type { RunSettingsCreate } from '@switchyard/contract/experiments/experiment-runs.ts';
import { PRIORITY_MAX } from '@switchyard/contract/limits.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { RunPlan } from '../../runs/store/planned-runs.ts';
import { RunSettings } from '../store/comparison-settings.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Returns the settings as the definition stores them. Runs of experiments wait behind all others, unless asked for. */
export function parseRunSettings(body: RunSettingsCreate): RunSettings {
  return {
    priority: body.priority ?? PRIORITY_MAX,
    ...(body.max_duration ? { max_duration: body.max_duration } : {}),
  };
}

const parseSettings = parseColumn('experiments', 'uid', 'definition', RunSettings);

/** Returns the plan of the runs of an experiment. */
export function buildRunPlan(experiment: ExperimentsTable, plannedAt: number): RunPlan {
  const { uid, id, type } = experiment;
  const settings = parseSettings(experiment);
  return {
    ownerUid: uid,
    applicationUid: experiment.application_uid,
    plannedAt,
    userEmail: experiment.user_email,
    key: experiment.created_by_key,
    experiment: { uid, id, type },
    priority: settings.priority ?? PRIORITY_MAX,
    ...(settings.max_duration === undefined ? {} : { maxDuration: settings.max_duration }),
  };
}

/** Formats the settings for the API. */
export function formatRunSettings({ priority, max_duration }: RunSettings): RunSettings {
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(max_duration === undefined ? {} : { max_duration }),
  };
}
