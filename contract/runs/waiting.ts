/** Why a queued run has not started: a reason in a word and a sentence, its place, and the runs in the slots. */
import Type, { type Static } from 'typebox';
import { QUEUE_POSITION_MAX, SLOT_HOLDERS_MAX } from '../limits.ts';
import { stringEnum, timestamp } from '../schemas/field-schemas.ts';

/** Why a run has not started, in the order in which they are looked for. */
const WAITING_REASONS = ['host_fault', 'no_worker', 'slots_taken', 'runs_before', 'about_to_start'] as const;

const SlotHolder = Type.Object(
  {
    run_id: Type.String({ description: 'The run.' }),
    application_id: Type.String({ description: 'Its application.' }),
    started_at: timestamp('When it started'),
    network: Type.Boolean({
      description:
        'Whether its app can reach the network, and so can create runs and wait for them. Such an app keeps its slot while it waits.',
    }),
  },
  { $id: 'SlotHolder', description: 'A running run that takes a slot.' },
);

export const Waiting = Type.Object(
  {
    place: Type.Integer({
      description: `Which it is among the queued runs that the same slots serve, those of other accounts counted too: 1 is next. Counted to ${QUEUE_POSITION_MAX}; ${QUEUE_POSITION_MAX + 1} means further back.`,
    }),
    reason: stringEnum(
      WAITING_REASONS,
      'Why it has not started. host_fault: the host that was to execute it had a fault, such as a full disk, and it is retried after a pause; no_worker: no worker that runs has a slot for its execution class; slots_taken: every slot is busy; runs_before: slots are free, and as many runs stand before it; about_to_start: it is next to be taken.',
    ),
    message: Type.String({
      description:
        'The same in a sentence, with the numbers. When no slot has become free for a minute, it names the runs in the slots, and those that may be waiting for runs that they created.',
    }),
    slots_taken_since: Type.Optional(
      timestamp('With slots_taken: since when every slot has been busy, which is when the last run started'),
    ),
    slot_holders: Type.Optional(
      Type.Array(SlotHolder, {
        description: `With slots_taken: the runs of this account in the slots, oldest first, at most ${SLOT_HOLDERS_MAX}.`,
      }),
    ),
  },
  { $id: 'Waiting', description: 'Why a queued run waits, and its place.' },
);
export type Waiting = Static<typeof Waiting>;
