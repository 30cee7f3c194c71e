/**
 * Measures workers on machines other than the server: so far, on a Slurm cluster.
 *
 * Run it: `node bench/workers/workers.ts [--runs 1000] [--nodes 4]`. It installs Slurm on Debian and Ubuntu, as root.
 */
import { parseArgs } from 'node:util';
import { findSlurmProblem } from '../../server/testing/slurm/slurm-cluster.ts';
import { printLine } from '../server/harness.ts';
import { compareWithSlurm } from './slurm.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    nodes: { type: 'string', default: '4' },
  },
});
const nodes = Number(values.nodes);
const runs = Number(values.runs);

const problem = await findSlurmProblem();
if (problem === null) await compareWithSlurm({ nodes, runs });
else printLine(`0 of ${runs} jobs, and no ratio, were measured on Slurm: ${problem}`);
