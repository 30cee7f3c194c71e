/** The columns of runs that are JSON. */

import { markExactNumbers } from '@switchyard/contract/exact-json.ts';
import { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import { EnsembleRule, RulesResult, RunGroup } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { Indicator } from '@switchyard/contract/runs/run-reports.ts';
import { EffectiveLimits, OptionSummary } from '@switchyard/contract/runs/run-schemas.ts';
import { objectSchema, StringOptions } from '@switchyard/contract/schemas/field-schemas.ts';
import { type ApplicationId, idSchema } from '@switchyard/contract/schemas/ids.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static, type TSchema } from 'typebox';
import { parseColumn } from '../platform/database/parse-column.ts';

/** Of 1,000 runs with ten indicators and ten options each, the check takes 0.6 ms, and the parsing 12 ms. */
const parseRunColumn = <Column extends string, T extends TSchema>(column: Column, schema: T) =>
  parseColumn('runs', 'id', column, schema);

export const parseOptionsSummary = parseRunColumn('options_summary', Type.Array(OptionSummary));
export const parseRequestOptions = parseRunColumn('request_options', StringOptions);
export const parseIndicators = parseRunColumn('indicators', Type.Array(Indicator));
export const parseStatistics = parseRunColumn('statistics', objectSchema('The statistics of the output.'));
export const parseMetrics = parseRunColumn('metrics', objectSchema('The metrics of the output.'));

/** For a response: a number that a double does not hold is marked, and `writeMarkedNumbers` writes its digits. */
export function parseExactIndicators({ id, indicators }: { id: string; indicators: string }): Indicator[] {
  return parseIndicators({ id, indicators: markExactNumbers(indicators) });
}

export const parseLimits = parseRunColumn('limits', EffectiveLimits);

/** The definition as the tables `ensembles` and `runs` store it. */
export const EnsembleDefinition = Type.Object({
  run_groups: Type.Array(RunGroup),
  rules: Type.Array(EnsembleRule),
});
export type EnsembleDefinition = Static<typeof EnsembleDefinition>;
/** Null for a run that is none of an ensemble. */
export const parseEnsemble = parseRunColumn('ensemble', EnsembleDefinition);
export const parseRulesResult = parseRunColumn('rules_result', RulesResult);
/** Null for a run of no experiment, and for one that has not ended. */
export const parseStartConditions = parseRunColumn('start_conditions', StartConditions);
/** The applications that the app can reach; null for an app without access to the API. */
export const parseApiAccess = parseRunColumn(
  'api_access',
  Type.Array(idSchema<ApplicationId>('An application.')),
);
/** The number of tokens by licence. */
export const parseLicenses = parseRunColumn('required_licenses', Type.Record(Type.String(), Type.Number()));

/** The application and the name of the run whose app created this one. */
const WorkflowName = Type.Object({ application_id: Type.String(), name: Type.String() });
export type WorkflowName = Static<typeof WorkflowName>;
/** Null for a run that no app created. */
export const parseWorkflowName = parseRunColumn('workflow', WorkflowName);

/** Labels by which the owner of a run, an experiment or an ensemble run, identifies it. Stored when the run is planned. */
const RunLabels = Type.Partial(
  Type.Object({
    option_set: Type.String(),
    scenario_id: Type.String(),
    repetition: Type.Number(),
    input_set_id: Type.String(),
    /** Number of the randomised block of a run of a batch, from 0; absent for other runs. */
    block: Type.Number(),
    /** Of a run of an ensemble. */
    run_group_id: Type.String(),
    /** Of a run in a unit of a candidate that refused it, so that the baseline executes it. */
    candidate_refused: Type.Boolean(),
    /** Why it refused the run, without the names of options that are hidden from any role. */
    candidate_refusal: Type.String(),
  }),
);
export type RunLabels = Static<typeof RunLabels>;
/** A row with labels: a run, or what remains of it before its start and after its deletion. */
export type LabelledRow = { labels: string | null } & (
  | { id: string }
  | { run_id: string }
  | { owner_uid: string; position: number }
);

const parseLabelsJson = createJsonParser(RunLabels);

/** Returns the labels of the run; without labels the object is empty. */
export function parseLabels(row: LabelledRow): RunLabels {
  if (row.labels === null) return {};
  return parseLabelsJson(row.labels, locateLabels(row));
}

function locateLabels(row: LabelledRow): string {
  if ('id' in row) return `runs.labels of id ${row.id}`;
  if ('run_id' in row) return `deleted_experiment_runs.labels of run_id ${row.run_id}`;
  return `planned_runs.labels of owner_uid ${row.owner_uid}, position ${row.position}`;
}
