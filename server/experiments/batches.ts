/** The operations on batch experiments and scenario tests. */
import type { ExperimentId } from '@switchyard/contract/ids.ts';
import { BATCH_RUNS_SHOWN, FAILURES_SHOWN } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { Contents } from '../blobs/contents.ts';
import type { HandlersOf, RawReply } from '../http/handler.ts';
import { answerList } from '../http/lists.ts';
import type { Random } from '../random.ts';
import { listFailures } from '../runs/failures.ts';
import { deleteAcceptanceTestsOn } from './acceptance-store.ts';
import { infoBody } from './batch-definition.ts';
import { findBatch, stateOf } from './batch-findings.ts';
import { countsOf, refusedBodies } from './bodies.ts';
import { type CommonParts, commonOf } from './common.ts';
import { createBatch } from './create-batch.ts';
import { FindingsCache } from './findings.ts';
import type { ExperimentsTable } from './schema.ts';
import { findResults } from './store.ts';

interface Parts extends CommonParts {
  contents: Contents;
  random: Random;
}

type BatchOperation =
  | 'createBatchExperiment'
  | 'listBatchExperiments'
  | 'getBatchExperiment'
  | 'updateBatchExperiment'
  | 'deleteBatchExperiment'
  | 'listBatchExperimentRuns'
  | 'getBatchExperimentMetadata';

export function batchHandlers(parts: Parts): HandlersOf<BatchOperation> {
  const { database, pageTokens } = parts;
  const common = commonOf(parts, { kind: 'batch', noun: 'batch experiment' });
  const findings = new FindingsCache();

  const info = async (experiment: ExperimentsTable, role: Role) =>
    infoBody(experiment, (await countsOf(database.read, [experiment]))(experiment), role);

  const found = async (experiment: ExperimentsTable, key: string): Promise<string> => {
    const kept = await findResults(database.read, experiment.uid);
    if (kept === undefined)
      return findings.get(experiment.uid, key, () => findBatch(database.read, experiment));
    findings.forget(experiment.uid);
    return kept;
  };

  return {
    createBatchExperiment: (call) => createBatch(parts, call),

    async listBatchExperiments({ caller, params, query }) {
      const type = query.type === 'scenario' ? 'scenario' : query.type === 'batch' ? 'batch' : null;
      const bodies = async (experiments: ExperimentsTable[]) => {
        const counts = await countsOf(database.read, experiments);
        return experiments.map((one) => infoBody(one, counts(one), caller.role));
      };
      const listed = await common.listed(caller, params.application_id, query, { type, bodies });
      return answerList(pageTokens, listed);
    },

    async getBatchExperiment({ caller, params }): Promise<RawReply> {
      const { experiment } = await common.find(
        caller,
        params.application_id,
        params.batch_id as ExperimentId,
      );
      const { key, counts } = await stateOf(database.read, experiment);
      const shown = JSON.stringify({
        ...infoBody(experiment, counts, caller.role),
        refused_runs: await refusedBodies(database.read, experiment),
        failures: await listFailures(database.read, experiment.uid, FAILURES_SHOWN),
      });
      // It may be megabytes, and lies there as JSON already.
      const results = await found(experiment, key);
      const object = `${shown.slice(0, -1)},${results.slice(1)}`;
      return common.withRuns(caller, experiment, BATCH_RUNS_SHOWN, object);
    },

    async getBatchExperimentMetadata({ caller, params }) {
      const { experiment } = await common.find(caller, params.application_id, params.batch_id);
      return { status: 200, body: await info(experiment, caller.role) };
    },

    async listBatchExperimentRuns({ caller, params, query }) {
      const { experiment } = await common.find(caller, params.application_id, params.batch_id);
      return common.runs(caller, experiment, query);
    },

    async updateBatchExperiment({ caller, params, body }) {
      const found = await common.find(caller, params.application_id, params.batch_id);
      return { status: 200, body: await info(await common.update(found, body), caller.role) };
    },

    async deleteBatchExperiment({ caller, params }) {
      const found = await common.find(caller, params.application_id, params.batch_id);
      await common.remove(found, (tx) => deleteAcceptanceTestsOn(tx, found.experiment.uid));
      findings.forget(found.experiment.uid);
      return { status: 204 };
    },
  };
}
