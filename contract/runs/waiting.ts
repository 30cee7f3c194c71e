/** Why a queued run has not started: a reason code, a message, the queue position, and the runs in the slots. */
import Type, { type Static } from 'typebox';
import { licenseUseFields } from '../licenses.ts';
import { PREDICTED_STARTS_MAX, QUEUE_POSITION_MAX, RECENT_USE_MINUTES, SLOT_HOLDERS_MAX } from '../limits.ts';
import { stringEnum, timestampSchema } from '../schemas/field-schemas.ts';

/** Reasons why a run has not started, in the order of the checks. */
const WAITING_REASONS = [
  'host_fault',
  'no_worker',
  'labels_missing',
  'class_too_large',
  'licenses_missing',
  'quota',
  'licenses_taken',
  'workflows_running',
  'slots_taken',
  'resources_taken',
  'runs_before',
  'about_to_start',
] as const;

const SlotHolder = Type.Object(
  {
    run_id: Type.String({ description: 'Id of the run.' }),
    application_id: Type.String({ description: 'Id of the application.' }),
    started_at: timestampSchema('Start time'),
    network: Type.Boolean({
      description:
        'true if the app can use the network, and so can create runs and wait for them. Such an app occupies its slot while it waits.',
    }),
  },
  { $id: 'SlotHolder', description: 'A running run that occupies a slot.' },
);

const resourceFields = {
  cores: Type.Number({ description: 'Number of cores.' }),
  memory_bytes: Type.Integer({ description: 'Memory in bytes.' }),
};

const RequiredLicense = Type.Object(
  {
    name: Type.String({ description: 'Name of the licence.' }),
    required: Type.Integer({ description: 'Number of tokens that the run requires.' }),
    ...licenseUseFields,
  },
  { $id: 'RequiredLicense', description: 'A licence of which too few tokens are free.' },
);

/** Facts behind the reasons, each present with the reasons that its description names. */
const facts = {
  fault: Type.Optional(
    Type.Object(
      {
        message: Type.String({ description: 'The fault of the host.' }),
        retry_at: timestampSchema('Time of the next attempt'),
      },
      { description: 'With host_fault: the fault.' },
    ),
  ),
  workers: Type.Optional(
    Type.Object(
      {
        active: Type.Integer({ description: 'Number of active workers.' }),
        draining: Type.Integer({ description: 'Number of those that drain.' }),
      },
      { description: 'With no_worker: the workers.' },
    ),
  ),
  can_be_provisioned: Type.Optional(
    Type.Boolean({
      description:
        'With no_worker, labels_missing and class_too_large: true if the server can start a worker for the run; otherwise the run waits until somebody starts one.',
    }),
  ),
  required_labels: Type.Optional(
    Type.Array(Type.String(), {
      description: 'With labels_missing: the labels that no active worker has together.',
    }),
  ),
  required_resources: Type.Optional(
    Type.Object(resourceFields, {
      description: 'With class_too_large and resources_taken: what the execution class of the run needs.',
    }),
  ),
  largest_worker: Type.Optional(
    Type.Object(resourceFields, {
      description: 'With class_too_large: the largest active worker that has the labels.',
    }),
  ),
  quota: Type.Optional(
    Type.Object(
      {
        owner: stringEnum(['account', 'application'], 'Owner of the quota.'),
        limit: Type.Integer({ description: 'Runs at once that the quota allows.' }),
        running: Type.Integer({ description: 'Runs that workers execute.' }),
      },
      { description: 'With quota: the quota that is used up.' },
    ),
  ),
  licenses: Type.Optional(
    Type.Array(RequiredLicense, {
      description:
        'With licenses_missing and licenses_taken: the licences of which the account has too few tokens, or too few free ones.',
    }),
  ),
  workflows: Type.Optional(
    Type.Object(
      {
        level: Type.Integer({ description: 'Level of the run: 1 for a workflow that no workflow created.' }),
        limit: Type.Integer({ description: 'Workflows of a level that a worker executes at once.' }),
      },
      { description: 'With workflows_running: the bound that every worker has reached.' },
    ),
  ),
  slots: Type.Optional(
    Type.Object(
      {
        total: Type.Integer({ description: 'Slots of active workers that serve the run.' }),
        free: Type.Integer({ description: 'Free slots of them.' }),
      },
      {
        description:
          'With slots_taken, resources_taken, runs_before and about_to_start: the slots of all active workers that can execute the run.',
      },
    ),
  ),
  slot_use: Type.Optional(
    Type.Object(
      {
        account: Type.Number({ description: 'Slots that the account uses.' }),
        application: Type.Number({ description: 'Slots that the application uses.' }),
      },
      {
        description: `With slots_taken, resources_taken and runs_before, when runs stand before it: the slots that decide whose run of the same priority is next. They are the slots that runs occupy now, plus the average number that ended runs occupied in the last ${RECENT_USE_MINUTES} minutes.`,
      },
    ),
  ),
};

const PredictedStart = Type.Object(
  {
    earliest: timestampSchema('Time before which the run starts with a probability of 10 %'),
    latest: timestampSchema('Time after which the run starts with a probability of 10 %'),
  },
  {
    $id: 'PredictedStart',
    description: `The range into which the start of the run falls with a probability of 80 %, from the durations of past runs. It is for the queue as it is now: new runs with a higher priority, cancellations and changes of the workers move the start. It is for a run that waits for others to end, which the reasons slots_taken, runs_before and licenses_taken mean. \`predicted_start_absence\` says why such a run has none.`,
  },
);

/** Why a run that waits for others to end has no predicted start. */
const PREDICTED_START_ABSENCES = ['few_past_runs', 'shared_resources', 'position'] as const;

export const Waiting = Type.Object(
  {
    place: Type.Integer({
      description: `Queue position among the runs that share the same slots, including those of other accounts: 1 is next. It is the order in which the runs start if slots become free now. Runs of the same priority take turns: next is the oldest run of the account and application that use the fewest slots. The order of accounts changes with the slots that they use, so a later run of an account with short runs can start earlier; \`predicted_start\` considers this. Runs that cannot start now do not count: those that wait for a quota, a retry, a worker or more licence tokens than their account has. Such a run has the position that it would have if all could start. Positions above ${QUEUE_POSITION_MAX} are shown as ${QUEUE_POSITION_MAX + 1}.`,
    }),
    reason: stringEnum(
      WAITING_REASONS,
      'Reason for waiting. With `host_fault`, the host of the run had a fault, such as a full disk, and the run is retried after a pause. With `no_worker`, no active worker has a slot for its execution class. With `labels_missing`, no active worker has the labels that the run requires. With `class_too_large`, every active worker has fewer cores or less memory than its execution class. With `licenses_missing`, the account has fewer licence tokens than the run requires. With `quota`, the account or the application executes as many runs at once as its quota allows. With `licenses_taken`, too few licence tokens are free. With `workflows_running`, the run is a workflow, and every worker executes as many of them as it may. With `slots_taken`, every slot is busy. With `resources_taken`, slots are free, but too few cores or too little memory on each worker. With `runs_before`, runs ahead in the queue need the free slots. With `about_to_start`, the run is next.',
    ),
    message: Type.String({
      description:
        'The reason in a sentence, with numbers. When no slot has become free for a minute, it names the runs in the slots, and those that may wait for runs that they created.',
    }),
    ...facts,
    predicted_start: Type.Optional(PredictedStart),
    predicted_start_absence: Type.Optional(
      stringEnum(
        PREDICTED_START_ABSENCES,
        `Reason why a run that waits for others to end has no predicted start. With \`few_past_runs\`, a run that it waits for has too few similar past runs. With \`shared_resources\`, workers divide their cores and memory among runs, which the prediction does not simulate. With \`position\`, it is too far back: more than ${PREDICTED_STARTS_MAX} runs may start before it.`,
      ),
    ),
    slots_taken_since: Type.Optional(
      timestampSchema(
        'With slots_taken: since when every slot has been busy, which is the start time of the last run',
      ),
    ),
    slot_holders: Type.Optional(
      Type.Array(SlotHolder, {
        description: `With slots_taken: the runs of this account in the slots, oldest first, at most ${SLOT_HOLDERS_MAX}.`,
      }),
    ),
  },
  { $id: 'Waiting', description: 'Why a queued run waits, and its queue position.' },
);
export type Waiting = Static<typeof Waiting>;

/** The attempts of a run after which it waited again, or ended. */
export const LostAttempts = Type.Array(
  Type.Object(
    {
      initiated_at: timestampSchema('Start of the attempt'),
      finished_at: timestampSchema('End of the attempt'),
    },
    { description: 'An attempt without a result.' },
  ),
  {
    description:
      'The attempts that were cut short, the first one first, because their worker died or their host had a fault. About 60 at most. Absent without any.',
  },
);
