/**
 * Reads the fields of the inputs by which a shadow test clusters its originals. A job does it soon after the copies are
 * planned: the transaction that plans them must not wait for a large input. Invariants: an original counts in the results
 * once its fields are read, and a test stores its results once those of all its originals are.
 *
 * A batch refuses inputs that are too large to read. Here callers create the inputs later, and no test may refuse or fail
 * them. So an input that is too large, damaged or no JSON has no value, like one without the field.
 */
import { FIELD_INPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { ContentRemovedError } from '../../platform/blobs/contents.ts';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { listOriginalInputs, type OriginalInput } from '../../runs/store/experiment-runs.ts';
import type { PropertyReader } from '../input-properties/property-reader.ts';
import { type FieldSource, listFieldSources } from '../input-properties/property-sources.ts';
import { listStartedExperiments, listTestsWithPendingResults, lockExperiment } from '../store/experiments.ts';
import {
  findInputProperties,
  type InputProperties,
  replaceInputProperties,
} from '../store/input-properties.ts';
import { listOriginalClusterings, parseShadowDefinition } from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';

interface Parts extends JobContext {
  database: Database;
  propertyReader: PropertyReader;
}

const INTERVAL_MS = 5000;
/** Inputs to read before their fields are stored. */
const BATCH_SIZE = 20;

/** Defines the job that reads the fields of the originals that have none yet. */
export function readOriginalFieldsJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<ExperimentsTable>(parts, {
    name: 'read-original-fields',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-planned'],
    async listRows() {
      const started = await listStartedExperiments(database.read, ['shadow']);
      return [...started, ...(await listTestsWithPendingResults(database.read))].filter(
        (test) => listOriginalFields(test).length > 0,
      );
    },
    formatKey: (test) => test.uid,
    handleRow: (test) => readFields(parts, test),
  });
}

/** Returns the fields by which the test clusters its originals; none for a switchback test. */
export function listOriginalFields(
  test: Pick<ExperimentsTable, 'uid' | 'kind' | 'definition'>,
): FieldSource[] {
  if (test.kind !== 'shadow') return [];
  return listFieldSources({ cluster_by: listOriginalClusterings(parseShadowDefinition(test)) }).clusterings;
}

/** Lists the existing originals whose fields are not read; none for a test without fields. */
export async function listUnreadOriginals(db: Reader, test: ExperimentsTable): Promise<OriginalInput[]> {
  if (listOriginalFields(test).length === 0) return [];
  // Properties come first: an original that is read meanwhile is listed, and read a second time.
  const read = new Set((await findInputProperties(db, test.uid)).map(({ input_id }) => input_id));
  return (await listOriginalInputs(db, test.uid)).filter(({ id }) => !read.has(id));
}

async function readFields(parts: Parts, test: ExperimentsTable): Promise<void> {
  const { database } = parts;
  const fields = listOriginalFields(test);
  const unread = await listUnreadOriginals(database.read, test);
  for (let from = 0; from < unread.length; from += BATCH_SIZE) {
    const found: InputProperties[] = [];
    for (const input of unread.slice(from, from + BATCH_SIZE))
      found.push({
        input_set_id: '',
        input_id: input.id,
        clusters: await readClusters(parts, input, fields),
        features: {},
      });
    await database.transact(async (tx) => {
      if (!(await lockExperiment(tx, test.uid))) return;
      const names = new Set<string>(found.map(({ input_id }) => input_id));
      const earlier = await findInputProperties(tx, test.uid);
      // Another server may have read the same originals.
      const others = earlier.filter(({ input_id }) => !names.has(input_id));
      await replaceInputProperties(tx, test.uid, [...others, ...found]);
    });
    // The last run may have ended before, so no end of a run wakes the job that stores the results.
    database.notify('runs-ended');
  }
}

async function readClusters(
  { propertyReader }: Parts,
  { id, input_content_id, input_format, input_bytes }: OriginalInput,
  clusterings: FieldSource[],
): Promise<Record<string, string>> {
  if (input_bytes > FIELD_INPUT_BYTES_MAX) return {};
  const input = { contentId: input_content_id, input_id: id, input_format, content: { bytes: input_bytes } };
  try {
    const [found] = await propertyReader.read([input], { clusterings, features: [] });
    return found?.clusters ?? {};
  } catch (error) {
    // The original was deleted meanwhile, or no retry can read it.
    if (error instanceof ContentRemovedError || findDamagedBlobError(error) !== null) return {};
    throw error;
  }
}
