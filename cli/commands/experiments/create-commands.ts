/** Commands that create experiments: one for each type, because each has its own fields. */

import { type Command, Option } from '@commander-js/extra-typings';
import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { SWITCHBACK_DESIGNS } from '@switchyard/contract/experiments/experiment-results.ts';
import type { CommonOptions, RequestFields } from '../../experiments/create-experiment.ts';
import {
  parseCount,
  parseJsonObject,
  parseList,
  parseMetric,
  parseNumber,
  parseObjectives,
} from '../../experiments/read-options.ts';
import { type NextSteps, submitExperiment } from '../../experiments/submit-experiment.ts';
import type { Session } from '../../session/session.ts';

/** Defines `experiments create` with a command for each type. */
export function defineCreateCommands(group: Command, session: Session): void {
  const create = group
    .command('create')
    .description(
      'Create an experiment from options, or from a YAML or JSON file with exactly the body of the API.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  switchyard experiments create batch --name Faster --input-set-id peak-days --instance-ids production,candidate',
    );
  defineBatch(create, session, 'batch');
  defineBatch(create, session, 'scenario');
  defineAcceptance(create, session);
  defineShadow(create, session);
  defineSwitchback(create, session);
}

/** Adds the options of every type to the command. */
function addCommon(create: Command, type: ExperimentType, description: string) {
  return create
    .command(type)
    .description(description)
    .option('--file <file>', 'A YAML or JSON file with the body of the API. Options replace its fields.')
    .option('--id <id>', 'The id. The default is made from the name.')
    .option('--name <name>', 'The name. The default is the id.')
    .option('--description <text>', 'The description.')
    .option('--plan', 'Print the runs, the time and the smallest detectable difference; create nothing.')
    .option('--watch', 'Wait for the end, and print the result.');
}

const PRIORITY_TEXT =
  'The priority of the runs, from 1 (first) to 9 (last). The default is 9, behind all other runs.';

const MAX_DURATION_TEXT = 'The maximum duration of each run in seconds.';

const OBJECTIVES_TEXT =
  'The direction of each indicator, such as result.value=minimize,result.custom.late=minimize.';
const PRIMARY_TEXT = 'The indicator that decides. The default is every indicator of --objectives.';
const GUARDRAILS_TEXT = 'Indicators that must not get worse, with commas between them.';
const CLUSTER_TEXT = 'Properties that group inputs which resemble each other, with commas between them.';
const FEATURES_TEXT =
  'Features of the inputs by which the result shows the effect, with commas between them.';

/** Splits the options of the command line from the fields of the request. */
function submit(
  session: Session,
  type: ExperimentType,
  { plan, watch, start, ...fields }: NextSteps & CommonOptions & RequestFields,
): Promise<void> {
  return submitExperiment(session, { type, fields, next: { plan, watch, start } });
}

function defineBatch(create: Command, session: Session, type: 'batch' | 'scenario'): void {
  const purpose =
    type === 'batch'
      ? 'Run instances on every input of an input set, and compare the others with the first.'
      : 'Run instances with several option sets, and compare the others with the first.';
  addCommon(create, type, purpose)
    .option('--input-set-id <id>', 'The input set.')
    .option('--instance-ids <ids>', 'The instances with commas between them, the control first.', parseList)
    .option('--option-sets <json>', 'Option sets by key, as JSON.', parseJsonObject)
    .option('--repetitions <count>', 'How often each instance runs each input.', parseCount)
    .option('--seeds <seeds>', 'Seeds in place of repetitions, with commas between them.', parseList)
    .option('--seed-option <name>', 'The option of the app that gets the seed. The default is seed.')
    .option('--objectives <list>', OBJECTIVES_TEXT, parseObjectives)
    .option('--primary <indicator>', PRIMARY_TEXT)
    .option('--guardrails <indicators>', GUARDRAILS_TEXT, parseList)
    .option('--cluster-by <properties>', CLUSTER_TEXT, parseList)
    .option('--features <features>', FEATURES_TEXT, parseList)
    .option('--priority <priority>', PRIORITY_TEXT, parseCount)
    .option('--max-duration <seconds>', MAX_DURATION_TEXT, parseCount)
    .addOption(
      new Option(
        '--racing [confidence]',
        'Stop configurations that are shown worse than another one, and keep the best with this probability, from 0.5 to 0.999; otherwise 0.95.',
      )
        .argParser(parseNumber)
        // The server refuses it for the other type.
        .hideHelp(type === 'batch'),
    )
    .addHelpText(
      'after',
      `\nExample:\n  switchyard experiments create ${type} --name Faster --input-set-id peak-days --instance-ids production,candidate --objectives result.value=minimize${type === 'scenario' ? ' --option-sets \'{"short": {"duration": "1"}, "long": {"duration": "9"}}\'' : ''} --watch`,
    )
    .action(
      ({ inputSetId, instanceIds, optionSets, seedOption, clusterBy, racing, maxDuration, ...options }) =>
        submit(session, type, {
          ...options,
          max_duration: maxDuration,
          racing: racing === true ? {} : racing && { confidence: racing },
          input_set_id: inputSetId,
          instance_ids: instanceIds,
          option_sets: optionSets,
          seed_option: seedOption,
          cluster_by: clusterBy,
        }),
    );
}

function defineAcceptance(create: Command, session: Session): void {
  addCommon(create, 'acceptance', 'Decide by rules whether a candidate may replace a control.')
    .option('--control <instance>', 'The instance in use.')
    .option('--candidate <instance>', 'The instance that may replace it.')
    .option(
      '--metrics <rule>',
      'A rule "INDICATOR STATISTIC OPERATOR [TOLERANCE [non-inferiority] [accept-same]]" with an operator gt, ge, lt, le, eq or ne. `non-inferiority` decides by the 95 % bound of mean, shifted_geometric_mean or a percentile. Without accept-same, inputs that all tie release nothing. Repeat the option for more rules.',
      parseMetric,
    )
    .option('--input-set-id <id>', 'The input set on which to create the batch of the test.')
    .option('--repetitions <count>', 'How often each side runs each input.', parseCount)
    .option('--experiment-id <id>', 'An existing batch experiment to evaluate, in place of an input set.')
    .option(
      '--failure-margin <share>',
      'Largest share of inputs that only the candidate may fail on.',
      parseNumber,
    )
    .option('--cluster-by <properties>', CLUSTER_TEXT, parseList)
    .option('--features <features>', FEATURES_TEXT, parseList)
    .option('--priority <priority>', PRIORITY_TEXT, parseCount)
    .option('--max-duration <seconds>', MAX_DURATION_TEXT, parseCount)
    .addHelpText(
      'after',
      '\nWith --watch, the exit code is 1 if the test is not passed, and 7 if it is passed and its decision is undecided.\n\nExample:\n  switchyard experiments create acceptance --name "Cheaper routes" --control production --candidate staging --metrics "result.value mean le 1%" --input-set-id peak-days --watch',
    )
    .action(
      ({ control, candidate, inputSetId, experimentId, failureMargin, clusterBy, maxDuration, ...options }) =>
        submit(session, 'acceptance', {
          ...options,
          max_duration: maxDuration,
          control: { instance_id: control },
          candidate: { instance_id: candidate },
          input_set_id: inputSetId,
          experiment_id: experimentId,
          failure_margin: failureMargin,
          cluster_by: clusterBy,
        }),
    );
}

/** Adds the options of a test on live runs. */
function addLive(create: Command, type: 'shadow' | 'switchback', description: string) {
  return addCommon(create, type, description)
    .option('--start', 'Start the test at once. Without this option it is a draft.')
    .option('--baseline-instance-id <id>', 'The instance in use.')
    .option('--candidate-instance-id <id>', 'The instance that may replace it.')
    .option('--objectives <list>', OBJECTIVES_TEXT, parseObjectives)
    .option('--primary <indicator>', PRIMARY_TEXT)
    .option('--guardrails <indicators>', GUARDRAILS_TEXT, parseList);
}

function defineShadow(create: Command, session: Session): void {
  addLive(create, 'shadow', 'Compare a candidate with a baseline on copies of live runs.')
    .option('--maximum-runs <count>', 'The largest number of copied runs.', parseCount)
    .option('--time <time>', 'Copy only runs created before this time, such as 2026-11-27T12:00:00Z.')
    .option('--sample-share <share>', 'Share of the runs to copy, from 0.0001 to 1.', parseNumber)
    .option('--cluster-by <properties>', CLUSTER_TEXT, parseList)
    .addHelpText(
      'after',
      '\nExample:\n  switchyard experiments create shadow --name "Faster search" --baseline-instance-id production --candidate-instance-id staging --maximum-runs 100 --start',
    )
    .action(
      ({ baselineInstanceId, candidateInstanceId, maximumRuns, time, sampleShare, clusterBy, ...options }) =>
        submit(session, 'shadow', {
          ...options,
          comparison: {
            baseline_instance_id: baselineInstanceId,
            candidate_instance_id: candidateInstanceId,
          },
          termination_events: { maximum_runs: maximumRuns, time },
          sample_share: sampleShare,
          cluster_by: clusterBy,
        }),
    );
}

function defineSwitchback(create: Command, session: Session): void {
  addLive(create, 'switchback', 'Let a baseline and a candidate serve live runs in random units of time.')
    .option('--unit-duration-minutes <minutes>', 'The length of a unit.', parseNumber)
    .option('--units <count>', 'The number of units.', parseCount)
    .addOption(new Option('--design <design>', 'How coins decide the units.').choices(SWITCHBACK_DESIGNS))
    .option('--carry-over-units <count>', 'Units after a switch that do not count.', parseNumber)
    .option('--burn-in-minutes <minutes>', 'Minutes at the start of a unit that do not count.', parseNumber)
    .addHelpText(
      'after',
      '\nExample:\n  switchyard experiments create switchback --name "Earlier dispatch" --baseline-instance-id production --candidate-instance-id staging --unit-duration-minutes 60 --units 20 --start',
    )
    .action(({ unitDurationMinutes, units, design, carryOverUnits, burnInMinutes, ...options }) => {
      const { baselineInstanceId, candidateInstanceId, ...fields } = options;
      return submit(session, 'switchback', {
        ...fields,
        comparison: { baseline_instance_id: baselineInstanceId, candidate_instance_id: candidateInstanceId },
        generate_random_plan: {
          unit_duration_minutes: unitDurationMinutes,
          units,
          design,
          carry_over_units: carryOverUnits,
          burn_in_minutes: burnInMinutes,
        },
      });
    });
}
