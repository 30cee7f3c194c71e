/** The columns of an application that say what its indicators mean. */
import { ApplicationIndicators, ApplicationObjective } from '@switchyard/contract/applications/indicators.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { ApplicationsTable } from './schema.ts';

type MeaningColumns = Pick<ApplicationsTable, 'objective' | 'indicators'>;

/** The columns of an application without an objective, indicators and baseline. */
export const NO_MEANING: Pick<ApplicationsTable, 'objective' | 'indicators' | 'baseline_run_id'> = {
  objective: null,
  indicators: null,
  baseline_run_id: null,
};

const parseObjective = parseColumn('applications', 'uid', 'objective', ApplicationObjective);
const parseIndicators = parseColumn('applications', 'uid', 'indicators', ApplicationIndicators);

/** Returns the objective, null for none, and the meaning of each indicator that has one. */
export function readMeaning(row: Pick<ApplicationsTable, 'uid'> & MeaningColumns): {
  objective: ApplicationObjective | null;
  indicators: ApplicationIndicators;
} {
  return { objective: parseObjective(row), indicators: parseIndicators(row) ?? {} };
}

/** Returns the columns that a request or a manifest sets: null removes a value, and an absent one stays. */
export function formatMeaning({
  objective,
  indicators,
}: {
  objective?: ApplicationObjective | null | undefined;
  indicators?: ApplicationIndicators | null | undefined;
}): Partial<MeaningColumns> {
  return {
    ...(objective !== undefined && { objective: objective && JSON.stringify(objective) }),
    ...(indicators !== undefined && { indicators: indicators && JSON.stringify(indicators) }),
  };
}
