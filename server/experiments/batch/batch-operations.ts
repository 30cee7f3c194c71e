/** The operations on batch experiments and scenario tests. */

import { BATCH_RUNS_EMBEDDED_MAX, FAILURES_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { Contents } from '../../blobs/contents.ts';
import type { HandlersFor, RawResponse } from '../../http/handlers/handler.ts';
import { respondWithList } from '../../http/lists/list-responses.ts';
import type { Random } from '../../random.ts';
import { listRunFailures } from '../../runs/store/failures.ts';
import { type ExperimentContext, experimentOperations } from '../operations/experiment-operations.ts';
import { countRunsByExperiment, listRefusedRuns } from '../operations/format-experiment.ts';
import { ResultsCache } from '../results/results-worker-pool.ts';
import { deleteAcceptanceTestsOfBatch } from '../store/acceptance-tests.ts';
import { findExperimentResults } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { computeBatchResults, readBatchState } from './batch-results.ts';
import { createBatch } from './create-batch.ts';
import { formatBatch } from './format-batch.ts';

interface Parts extends ExperimentContext {
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

export function batchHandlers(parts: Parts): HandlersFor<BatchOperation> {
  const { database, pageTokens } = parts;
  const common = experimentOperations(parts, { kind: 'batch', displayName: 'batch experiment' });
  const findings = new ResultsCache();

  const info = async (experiment: ExperimentsTable, role: Role) =>
    formatBatch(experiment, (await countRunsByExperiment(database.read, [experiment]))(experiment), role);

  const found = async (experiment: ExperimentsTable, key: string): Promise<string> => {
    const kept = await findExperimentResults(database.read, experiment.uid);
    if (kept === undefined)
      return findings.getOrCompute(experiment.uid, key, () => computeBatchResults(database.read, experiment));
    findings.evict(experiment.uid);
    return kept;
  };

  return {
    createBatchExperiment: (call) => createBatch(parts, call),

    async listBatchExperiments({ caller, params, query }) {
      const type = query.type === 'scenario' ? 'scenario' : query.type === 'batch' ? 'batch' : null;
      const bodies = async (experiments: ExperimentsTable[]) => {
        const counts = await countRunsByExperiment(database.read, experiments);
        return experiments.map((one) => formatBatch(one, counts(one), caller.role));
      };
      const listed = await common.listed(caller, params.application_id, query, { type, bodies });
      return respondWithList(pageTokens, listed);
    },

    async getBatchExperiment({ caller, params }): Promise<RawResponse> {
      const { experiment } = await common.find(
        caller,
        params.application_id,
        params.batch_id as ExperimentId,
      );
      const { key, counts } = await readBatchState(database.read, experiment);
      const shown = JSON.stringify({
        ...formatBatch(experiment, counts, caller.role),
        refused_runs: await listRefusedRuns(database.read, experiment),
        failures: await listRunFailures(database.read, experiment.uid, FAILURES_EMBEDDED_MAX),
      });
      // It may be megabytes, and lies there as JSON already.
      const results = await found(experiment, key);
      const object = `${shown.slice(0, -1)},${results.slice(1)}`;
      return common.withRuns(caller, experiment, BATCH_RUNS_EMBEDDED_MAX, object);
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
      await common.remove(found, (tx) => deleteAcceptanceTestsOfBatch(tx, found.experiment.uid));
      findings.evict(found.experiment.uid);
      return { status: 204 };
    },
  };
}
