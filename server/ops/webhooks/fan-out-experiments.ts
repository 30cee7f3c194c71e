/** Turns status changes of experiments into deliveries. One transaction removes the event and enqueues its deliveries. */
import { ExperimentInfo } from '@switchyard/contract/account/webhook-schemas.ts';
import { claimExperimentEvent, listExperimentEvents } from '../../experiments/store/experiment-events.ts';
import type { ExperimentEventsTable } from '../../experiments/store/schema.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import type { Random } from '../../platform/random.ts';
import { enqueueDeliveries, listSubscribedWebhooks } from './fan-out.ts';

const INTERVAL_MS = 1000;
const BATCH_SIZE = 50;

interface Parts extends JobContext {
  database: Database;
  random: Random;
}

const parseData = parseColumn('experiment_events', 'seq', 'data', ExperimentInfo);

/** Enqueues one delivery per subscribed webhook for each status change of an experiment. */
export function fanOutExperimentEventsJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<ExperimentEventsTable>(parts, {
    name: 'fan-out-experiment-events',
    intervalMs: INTERVAL_MS,
    batchSize: BATCH_SIZE,
    listRows: (limit) => listExperimentEvents(database.read, limit),
    formatKey: ({ seq }) => String(seq),
    async handleRows(events) {
      await database.transact(async (tx) => {
        for (const event of events) await fanOutExperimentEvent(parts, tx, event);
      });
      database.notify('webhooks-due');
    },
  });
}

async function fanOutExperimentEvent(parts: Parts, tx: Writer, event: ExperimentEventsTable): Promise<void> {
  if (!(await claimExperimentEvent(tx, event))) return;
  const webhooks = await listSubscribedWebhooks(tx, event.account_id, 'experiment.status');
  if (webhooks.length === 0) return;
  await enqueueDeliveries(parts, tx, webhooks, {
    event_type: 'experiment.status',
    created_at: event.at,
    sequence: event.seq,
    data: parseData(event),
  });
}
