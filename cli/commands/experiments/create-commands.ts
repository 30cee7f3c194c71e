/** Commands that create experiments: one for each type, with options that are the fields of its request. */

import type { Command } from '@commander-js/extra-typings';
import {
  EXPERIMENT_TYPES,
  type ExperimentType,
  hasFact,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { nameOperation } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { submitExperiment } from '../../experiments/submit-experiment.ts';
import type { Session } from '../../session/session.ts';
import { addFieldOptions, type FieldOption } from './field-options.ts';

const NAMES: readonly FieldOption[] = [
  ['--id <id>', 'The id. The default is made from the name.'],
  ['--name <name>', 'The name. The default is the id.'],
  ['--description <text>', 'The description.'],
];

const COMPARISON: readonly FieldOption[] = [
  [
    '--objectives <list>',
    'The direction of each indicator, such as result.value=minimize,result.custom.late=minimize.',
  ],
  ['--primary <indicator>', 'The indicator that decides. The default is every indicator of --objectives.'],
  ['--guardrails <indicators>', 'Indicators that must not get worse, with commas between them.'],
];

const CLUSTERS: FieldOption = [
  '--cluster-by <properties>',
  'Properties that group inputs which resemble each other, with commas between them.',
];

/** Options of the types that create their runs at once. */
const PROPERTIES: readonly FieldOption[] = [
  CLUSTERS,
  [
    '--features <features>',
    'Features of the inputs by which the result shows the effect, with commas between them.',
  ],
];

/** Options of the runs that an experiment creates. */
export const RUN_SETTINGS: readonly FieldOption[] = [
  [
    '--priority <priority>',
    'The priority of the runs, from 1 (first) to 9 (last). The default is 9, behind all other runs.',
  ],
  ['--max-duration <seconds>', 'The maximum duration of each run in seconds.'],
];

const SIDES: readonly FieldOption[] = [
  ['--baseline-instance-id <id>', 'The instance in use.', { at: 'comparison.baseline_instance_id' }],
  [
    '--candidate-instance-id <id>',
    'The instance that may replace it.',
    { at: 'comparison.candidate_instance_id' },
  ],
  ...COMPARISON,
];

interface CreateCommand {
  purpose: string;
  options: readonly FieldOption[];
  /** The words of the example after the name of the type. */
  example: string;
  /** A sentence before the example. */
  note?: string;
}

const listBatchOptions = (type: 'batch' | 'scenario'): readonly FieldOption[] => [
  ['--input-set-id <id>', 'The input set.'],
  ['--instance-ids <ids>', 'The instances with commas between them, the control first.'],
  ['--option-sets <json>', 'Option sets by key, as JSON.'],
  ['--repetitions <count>', 'How often each instance runs each input.'],
  ['--seeds <seeds>', 'Seeds in place of repetitions, with commas between them.'],
  ['--seed-option <name>', 'The option of the app that gets the seed. The default is seed.'],
  ...COMPARISON,
  ...PROPERTIES,
  ...RUN_SETTINGS,
  [
    '--racing [confidence]',
    'Stop configurations that are shown worse than another one, and keep the best with this probability, from 0.5 to 0.999; otherwise 0.95.',
    // The server refuses it for the other type.
    { at: 'racing.confidence', isHidden: type === 'batch' },
  ],
];

const BATCH_EXAMPLE =
  '--name Faster --input-set-id peak-days --instance-ids production,candidate --objectives result.value=minimize';

/** The command `bisect` starts a search. */
const COMMANDS: Readonly<Record<Exclude<ExperimentType, 'bisect'>, CreateCommand>> = {
  batch: {
    purpose: 'Run instances on every input of an input set, and compare the others with the first.',
    options: listBatchOptions('batch'),
    example: `${BATCH_EXAMPLE} --watch`,
  },
  scenario: {
    purpose: 'Run instances with several option sets, and compare the others with the first.',
    options: listBatchOptions('scenario'),
    example: `${BATCH_EXAMPLE} --option-sets '{"short": {"duration": "1"}, "long": {"duration": "9"}}' --watch`,
  },
  acceptance: {
    purpose: 'Decide by rules whether a candidate may replace a control.',
    options: [
      ['--control <instance>', 'The instance in use.', { at: 'control.instance_id' }],
      ['--candidate <instance>', 'The instance that may replace it.', { at: 'candidate.instance_id' }],
      [
        '--metrics <rule>',
        'A rule "INDICATOR STATISTIC OPERATOR [TOLERANCE [non-inferiority] [accept-same]]" with an operator gt, ge, lt, le, eq or ne. `non-inferiority` decides by the 95 % bound of mean, shifted_geometric_mean or a percentile. Without accept-same, inputs that all tie release nothing. Repeat the option for more rules.',
      ],
      ['--input-set-id <id>', 'The input set on which to create the batch of the test.'],
      ['--repetitions <count>', 'How often each side runs each input.'],
      ['--experiment-id <id>', 'An existing batch experiment to evaluate, in place of an input set.'],
      ['--failure-margin <share>', 'Largest share of inputs that only the candidate may fail on.'],
      ...PROPERTIES,
      ...RUN_SETTINGS,
    ],
    note: 'With --watch, the exit code is 1 if the test is not passed, and 7 if it is passed and its decision is undecided.',
    example:
      '--name "Cheaper routes" --control production --candidate staging --metrics "result.value mean le 1%" --input-set-id peak-days --watch',
  },
  shadow: {
    purpose: 'Compare a candidate with a baseline on copies of live runs.',
    options: [
      ...SIDES,
      [
        '--maximum-runs <count>',
        'The largest number of copied runs.',
        { at: 'termination_events.maximum_runs' },
      ],
      [
        '--time <time>',
        'Copy only runs created before this time, such as 2026-11-27T12:00:00Z.',
        { at: 'termination_events.time' },
      ],
      ['--sample-share <share>', 'Share of the runs to copy, from 0.0001 to 1.'],
      CLUSTERS,
    ],
    example:
      '--name "Faster search" --baseline-instance-id production --candidate-instance-id staging --maximum-runs 100 --start',
  },
  switchback: {
    purpose: 'Let a baseline and a candidate serve live runs in random units of time.',
    options: [
      ...SIDES,
      ...(
        [
          ['--unit-duration-minutes <minutes>', 'The length of a unit.'],
          ['--units <count>', 'The number of units.'],
          ['--design <design>', 'How coins decide the units.'],
          ['--carry-over-units <count>', 'Units after a switch that do not count.'],
          ['--burn-in-minutes <minutes>', 'Minutes at the start of a unit that do not count.'],
        ] as const
      ).map(([flags, text]): FieldOption => {
        const [flag = ''] = flags.slice(2).split(' ');
        return [flags, text, { at: `generate_random_plan.${flag.replaceAll('-', '_')}` }];
      }),
    ],
    example:
      '--name "Earlier dispatch" --baseline-instance-id production --candidate-instance-id staging --unit-duration-minutes 60 --units 20 --start',
  },
};

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
  for (const type of EXPERIMENT_TYPES) if (type !== 'bisect') defineCreate(create, session, type);
}

function defineCreate(create: Command, session: Session, type: keyof typeof COMMANDS): void {
  const { purpose, options, note, example } = COMMANDS[type];
  const operation = nameOperation('create', type);
  const command = create
    .command(type)
    .description(purpose)
    .option('--file <file>', 'A YAML or JSON file with the body of the API. Options replace its fields.');
  const readNames = addFieldOptions(command, operation, NAMES);
  command
    .option('--plan', 'Print the runs, the time and the smallest detectable difference; create nothing.')
    .option('--watch', 'Wait for the end, and print the result.');
  if (hasFact(type, 'isLive'))
    command.option('--start', 'Start the test at once. Without this option it is a draft.');
  const readFields = addFieldOptions(command, operation, options);
  command
    .addHelpText(
      'after',
      `${note === undefined ? '' : `\n${note}\n`}\nExample:\n  switchyard experiments create ${type} ${example}`,
    )
    .action(({ file, ...next }) =>
      submitExperiment(session, { type, fields: { file, ...readNames(), ...readFields() }, next }),
    );
}
