/** Why a queued run has not started: a reason code, a message, the queue position, and the runs in the slots. */
import Type, { type Static } from 'typebox';
import { PREDICTED_STARTS_MAX, QUEUE_POSITION_MAX, SLOT_HOLDERS_MAX } from '../limits.ts';
import { stringEnum, timestampSchema } from '../schemas/field-schemas.ts';

/** Reasons why a run has not started, in the order of the checks. */
const WAITING_REASONS = [
  'host_fault',
  'no_worker',
  'quota',
  'slots_taken',
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

const PredictedStart = Type.Object(
  {
    earliest: timestampSchema('Time before which the run starts with a probability of 10 %'),
    latest: timestampSchema('Time after which the run starts with a probability of 10 %'),
  },
  {
    $id: 'PredictedStart',
    description: `The range into which the start of the run falls with a probability of 80 %, from the durations of past runs. It is for the queue as it is now: new runs with a higher priority, cancellations and changes of the workers move the start. It is absent when too few past runs are similar, for positions above ${PREDICTED_STARTS_MAX}, and for a run that does not wait for a slot.`,
  },
);

export const Waiting = Type.Object(
  {
    place: Type.Integer({
      description: `Queue position among the runs that share the same slots, including those of other accounts: 1 is next. Positions above ${QUEUE_POSITION_MAX} are shown as ${QUEUE_POSITION_MAX + 1}.`,
    }),
    reason: stringEnum(
      WAITING_REASONS,
      'Reason for waiting. With `host_fault`, the host of the run had a fault, such as a full disk, and the run is retried after a pause. With `no_worker`, no active worker has a slot for its execution class. With `quota`, the account or the application executes as many runs at once as its quota allows. With `slots_taken`, every slot is busy. With `runs_before`, runs ahead in the queue need the free slots. With `about_to_start`, the run is next.',
    ),
    message: Type.String({
      description:
        'The reason in a sentence, with numbers. When no slot has become free for a minute, it names the runs in the slots, and those that may wait for runs that they created.',
    }),
    predicted_start: Type.Optional(PredictedStart),
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
